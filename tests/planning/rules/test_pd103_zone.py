import pytest

from constructs_pd.planning.rules.pd103_zone import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    ("region", "zone"),
    [
        ("us-west-2", "us-west-2a"),
        ("us-west-2", "usw2-az4"),
        ("ap-northeast-1", "apne1-az1"),
        ("eu-central-1", "eu-central-1c"),
        ("us-gov-west-1", "usgw1-az2"),
    ],
)
def test_accepts_a_zone_of_the_region_by_name_or_id(region: str, zone: str) -> None:
    assert findings_of(RULE, {"region": region, "availability_zone": zone}) == []


@pytest.mark.parametrize(
    "zone", ["us-east-1a", "use2-az1", "us-west-2", "us-west-2ab", "us-west-2-lax-1a", "", "a", "usw2-az1\n"]
)
def test_refuses_any_other_zone_and_shows_one_that_fits(zone: str) -> None:
    (finding,) = findings_of(RULE, {"availability_zone": zone})
    assert repr(zone) in finding.message
    assert "us-west-2" in finding.message
    assert findings_of(RULE, {"availability_zone": finding.remedy.split("'")[1]}) == []
