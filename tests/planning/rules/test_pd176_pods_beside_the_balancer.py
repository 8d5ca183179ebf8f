from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd176_pods_beside_the_balancer import RULE
from support.gateway import GATEWAY
from support.new_cluster import CHANGES
from support.rules import findings_of

NEW: dict[str, Any] = {**CHANGES["reference"], "network_policy": {}, "endpoint.exposure": "internal_alb"}


@pytest.mark.parametrize(
    "changes",
    [
        {"eks_cluster": None},  # its subnets are the user's
        {"network_policy": None},
        {"endpoint.exposure": "cluster"},
        {"endpoint.exposure": "internet_alb"},  # in subnets without pods
        {"endpoint.gateway": GATEWAY},
        {"network_policy": {"balancer_cidrs": ["10.0.200.0/24"]}},
    ],
)
def test_accepts_a_balancer_that_is_told_from_pods_and_one_with_keys_behind_it(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, {**NEW, **changes}) == []


def test_warns_of_one_among_pods() -> None:
    (finding,) = findings_of(RULE, NEW)
    assert finding.severity is Severity.WARNING
    assert "of the private subnets of 10.0.0.0/16, and so has every pod" in finding.message


def test_leaves_a_network_that_is_none_to_its_own_rule() -> None:
    assert len(findings_of(RULE, {**NEW, "eks_cluster.vpc_cidr": "999.0.0.0/33"})) == 1
