import pytest

from constructs_pd.planning.rules.pd105_balancer_subnets import RULE
from support.rules import findings_of

ONE, TWO = "subnet-0123456789abcdef0", "subnet-0123456789abcdef1"


@pytest.mark.parametrize("subnets", [[], [ONE, TWO]])
def test_accepts_no_subnets_or_two(subnets: list[str]) -> None:
    assert findings_of(RULE, {"endpoint": {"exposure": "internal_alb", "subnet_ids": subnets}}) == []


@pytest.mark.parametrize("subnets", [[ONE], [ONE, ONE]])
def test_refuses_a_single_subnet_however_often_it_is_named(subnets: list[str]) -> None:
    (finding,) = findings_of(RULE, {"endpoint": {"exposure": "internal_alb", "subnet_ids": subnets}})
    assert "1 subnet, an Application Load Balancer needs at least 2" in finding.message


def test_refuses_a_subnet_named_twice_among_others() -> None:
    (finding,) = findings_of(RULE, {"endpoint": {"exposure": "internal_alb", "subnet_ids": [ONE, TWO, ONE]}})
    assert "3 subnets, only 2 different" in finding.message


def test_refuses_subnets_without_a_balancer() -> None:
    (finding,) = findings_of(RULE, {"endpoint": {"subnet_ids": [ONE, TWO]}})
    assert "exposure is 'cluster'" in finding.message
