from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd167_balancer_addresses import RULE
from support.rules import findings_of

SUBNETS = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"endpoint.exposure": "cluster", "network_policy": {}},
        {"network_policy": {"balancer_cidrs": ["10.0.0.0/24"]}},
        {"network_policy": {}, "eks_cluster.other_zones": ["us-west-2b"]},
    ],
)
def test_accepts_a_balancer_whose_addresses_are_known(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize(
    ("subnets", "named"), [([], "those that its tag finds"), (SUBNETS, "the 2 of endpoint.subnet_ids")]
)
def test_refuses_one_whose_are_not(subnets: list[str], named: str) -> None:
    (finding,) = findings_of(RULE, {"network_policy": {}, "endpoint.subnet_ids": subnets})
    assert finding.subject == "network_policy.balancer_cidrs"
    assert "internal_alb" in finding.message
    assert named in finding.remedy
