from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd171_unused_of_policy import RULE
from support.rules import findings_of

POLICY = {
    "balancer_cidrs": ["10.0.0.0/24"],
    "kubernetes_api_cidrs": ["10.0.1.0/24"],
    "redis_namespaces": ["cache"],
    "collector_namespaces": ["observability"],
}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"network_policy": {}, "endpoint.exposure": "cluster"},
        {
            "network_policy": POLICY,
            "endpoint.conformance_job": True,
            "gcs_fault_tolerance.redis_address": "redis.cache:6379",
            "tracing.otlp_endpoint": "http://collector.observability:4317",
        },
    ],
)
def test_accepts_what_is_about_something(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_what_is_about_nothing() -> None:
    changes = {"network_policy": {**POLICY, "redis_cidrs": ["10.0.2.0/24"]}, "endpoint.exposure": "cluster"}
    found = {finding.subject.removeprefix("network_policy."): finding.message for finding in findings_of(RULE, changes)}
    assert found == {
        "balancer_cidrs": "1 stated, and exposure cluster has no balancer",
        "kubernetes_api_cidrs": "1 stated, and there is no endpoint.conformance_job",
        "collector_namespaces": "1 stated, and there is no tracing",
        "redis_cidrs": "1 stated, and there is no gcs_fault_tolerance",
        "redis_namespaces": "1 stated, and there is no gcs_fault_tolerance",
    }
