import pytest

from constructs_pd.planning.rules.pd126_cluster_zones import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    ("own", "others"),
    [
        ("us-west-2a", ["us-west-2b"]),
        ("us-west-2a", ["us-west-2c", "us-west-2b"]),
        ("usw2-az1", ["usw2-az2", "usw2-az4"]),
    ],
)
def test_accepts_other_zones_of_the_region_in_one_notation(own: str, others: list[str]) -> None:
    assert findings_of(RULE, {"availability_zone": own, "eks_cluster.other_zones": others}) == []


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize(("others", "index"), [(["us-west-2a"], 0), (["us-west-2b", "us-west-2b"], 1)])
def test_refuses_a_zone_that_is_named_before(others: list[str], index: int) -> None:
    (finding,) = findings_of(RULE, {"eks_cluster.other_zones": others})
    assert finding.subject == f"eks_cluster.other_zones.{index}"
    assert finding.message == f"{others[-1]} is named twice, the network has 1 private subnet in a zone"


@pytest.mark.parametrize("zone", ["us-east-1b", "use1-az2", "us-west-2", "us-west-2-lax-1a", "", "us-west-2b\n"])
def test_refuses_what_is_no_zone_of_the_region(zone: str) -> None:
    (finding,) = findings_of(RULE, {"eks_cluster.other_zones": ["us-west-2b", zone]})
    assert finding.subject == "eks_cluster.other_zones.1"
    assert finding.message == f"{zone!r} is not a zone of region us-west-2"


@pytest.mark.parametrize(("own", "other"), [("us-west-2a", "usw2-az2"), ("usw2-az1", "us-west-2b")])
def test_refuses_zones_by_name_beside_zones_by_id(own: str, other: str) -> None:
    (finding,) = findings_of(RULE, {"availability_zone": own, "eks_cluster.other_zones": [other]})
    assert finding.message == f"{other!r} and availability_zone {own!r}: one is a name, the other an id"
    assert finding.remedy == "write all zones by name, or all by id"
