from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd191_policy_collector import RULE
from support.rules import findings_of

INSIDE = {"otlp_endpoint": "http://collector.observability:4317"}
OUTSIDE = {"otlp_endpoint": "https://collector.example.com:443"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"tracing": INSIDE},
        {"network_policy": {}},
        {"tracing": INSIDE, "network_policy": {"collector_namespaces": ["observability"]}},
        {"tracing": INSIDE, "network_policy": {"collector_cidrs": ["10.0.9.9/32"]}},
        {"tracing": OUTSIDE, "network_policy": {}},
    ],
)
def test_accepts_spans_that_arrive(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize(("tracing", "policy", "port"), [(INSIDE, {}, 4317), (OUTSIDE, {"egress_cidrs": []}, 443)])
def test_refuses_spans_that_no_policy_lets_out(tracing: dict[str, str], policy: dict[str, Any], port: int) -> None:
    (finding,) = findings_of(RULE, {"tracing": tracing, "network_policy": policy})
    assert finding.subject == "network_policy"
    assert "0 ranges and 0 namespaces" in finding.message
    assert finding.message.endswith(f"at port {port}")
