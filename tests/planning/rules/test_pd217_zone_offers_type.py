import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd217_zone_offers_type import RULE
from support.offerings import NOT_IN_AZ1, phases
from support.rules import findings_of
from support.specs import reserved


@pytest.mark.parametrize("zone", ["usw2-az2", "us-west-2a"])
def test_accepts_a_zone_that_offers_the_type_or_may(zone: str) -> None:
    assert findings_of(RULE, phases(NOT_IN_AZ1, zone)) == []


def test_refuses_a_zone_by_id_that_does_not() -> None:
    (finding,) = findings_of(RULE, phases(NOT_IN_AZ1, "usw2-az1"))
    assert finding.subject == "decode.instance_type"
    zones = load_catalog().offerings["us-west-2"].zones
    offering = sorted(zone for zone, types in zones.items() if NOT_IN_AZ1 in types)
    assert finding.message == f"usw2-az1 does not offer {NOT_IN_AZ1}; {len(offering)} of {len(zones)} zones do"
    assert finding.remedy.startswith(f"choose {', '.join(offering)}, or another type; ")


def test_refuses_a_region_that_offers_it_nowhere_also_by_name() -> None:
    findings = findings_of(RULE, phases("p5.48xlarge", "af-south-1a", "af-south-1"))
    assert [finding.message for finding in findings] == [
        "no zone of af-south-1 offers g6.8xlarge; 0 of 3 zones do",
        "no zone of af-south-1 offers p5.48xlarge; 0 of 3 zones do",
    ]


@pytest.mark.parametrize(
    ("zone", "region"), [("usw2-az9", "us-west-2"), ("cn-north-1a", "cn-north-1"), ("cnn1-az1", "cn-north-1")]
)
def test_says_nothing_of_zones_that_nobody_knows(zone: str, region: str) -> None:
    assert findings_of(RULE, phases(NOT_IN_AZ1, zone, region)) == []


def test_believes_a_row_of_the_users_own() -> None:
    row = load_catalog().instances[NOT_IN_AZ1].model_dump() | {"source": "EC2, asked today"}
    assert findings_of(RULE, {**phases(NOT_IN_AZ1, "usw2-az1"), "custom_instances": [row]}) == []


def test_believes_a_reservation_in_the_zone() -> None:
    reservation = reserved("decode", availability_zone="usw2-az1")
    assert findings_of(RULE, {**phases(NOT_IN_AZ1, "usw2-az1"), **reservation}) == []


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, phases("x", "usw2-az1")) == []
