from __future__ import annotations

import pytest

from constructs_pd.planning.rules.pd174_link_local import RULE
from support.rules import findings_of


@pytest.mark.parametrize("cidr", ["0.0.0.0/0", "169.252.0.0/14", "169.253.0.0/16", "169.255.0.0/32", "999.0.0.0/8"])
def test_accepts_ranges_beside_and_around_them(cidr: str) -> None:
    assert findings_of(RULE, {"network_policy": {"egress_cidrs": [cidr]}}) == []


def test_says_nothing_where_there_is_no_policy() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("cidr", ["169.254.0.0/16", "169.254.169.254/32"])
@pytest.mark.parametrize("field", ["egress_cidrs", "kubernetes_api_cidrs", "redis_cidrs", "balancer_cidrs"])
def test_refuses_ranges_of_them(field: str, cidr: str) -> None:
    (finding,) = findings_of(RULE, {"network_policy": {field: [cidr]}})
    assert finding.subject == f"network_policy.{field}.0"
    assert finding.message.startswith(f"{cidr} lies in 169.254.0.0/16")
