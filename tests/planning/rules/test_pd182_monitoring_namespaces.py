from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd182_monitoring_namespaces import RULE
from support.rules import findings_of

MONITORING: dict[str, Any] = {"monitoring": {}}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        MONITORING,
        {"network_policy": {}},
        {**MONITORING, "network_policy": {"monitoring_namespaces": ["monitoring"]}},
    ],
)
def test_accepts_pods_that_prometheus_reaches(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_policies_that_shut_prometheus_out() -> None:
    (finding,) = findings_of(RULE, {**MONITORING, "network_policy": {}})
    assert finding.subject == "network_policy.monitoring_namespaces"
    assert "0 namespaces" in finding.message
    assert "[monitoring]" in finding.remedy
