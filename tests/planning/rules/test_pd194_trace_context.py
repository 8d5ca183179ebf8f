from __future__ import annotations

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd194_trace_context import RULE
from support.changes import GATEWAY, TRACING
from support.rules import findings_of


def test_accepts_a_gateway_that_begins_traces() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"tracing": TRACING, "endpoint.gateway": GATEWAY}) == []


def test_warns_of_traces_that_only_clients_could_begin() -> None:
    (finding,) = findings_of(RULE, {"tracing": TRACING})
    assert (finding.subject, finding.severity) == ("tracing", Severity.WARNING)
    assert "makes 3" in finding.message
