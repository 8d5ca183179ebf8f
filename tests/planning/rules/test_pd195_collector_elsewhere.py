from __future__ import annotations

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd195_collector_elsewhere import RULE
from support.rules import findings_of


@pytest.mark.parametrize("host", ["collector.observability", "10.0.9.9", "localhost.example.com"])
def test_accepts_somebody_else(host: str) -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"tracing.otlp_endpoint": f"http://{host}:4317"}) == []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
def test_warns_of_the_pod_itself(host: str) -> None:
    (finding,) = findings_of(RULE, {"tracing.otlp_endpoint": f"http://{host}:4317"})
    assert (finding.subject, finding.severity) == ("tracing.otlp_endpoint", Severity.WARNING)
    assert "0 collectors" in finding.message
