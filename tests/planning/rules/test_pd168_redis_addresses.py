from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd168_redis_addresses import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    ("address", "policy"),
    [
        ("redis.cache:6379", None),
        ("redis.cache:6379", {"redis_namespaces": ["cache"]}),
        ("rediss://redis.cache:6379", {"redis_cidrs": ["10.0.0.0/24"]}),
        ("10.0.0.7:6379", {}),
        ("rediss://10.0.0.7:6379", {}),
    ],
)
def test_accepts_a_redis_that_a_policy_can_name(address: str, policy: dict[str, Any] | None) -> None:
    changes = {"gcs_fault_tolerance": {"redis_address": address}, "network_policy": policy}
    assert findings_of(RULE, changes) == []


def test_accepts_no_redis() -> None:
    assert findings_of(RULE, {"network_policy": {}}) == []


@pytest.mark.parametrize("scheme", ["", "redis://"])
def test_refuses_one_that_has_a_name_alone(scheme: str) -> None:
    changes = {"gcs_fault_tolerance": {"redis_address": f"{scheme}redis.cache:6379"}, "network_policy": {}}
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == "network_policy.redis_cidrs"
    assert finding.message == "0 ranges and 0 redis_namespaces, and a policy cannot name redis.cache"
