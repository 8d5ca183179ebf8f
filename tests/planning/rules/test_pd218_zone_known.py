import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd218_zone_known import RULE
from support.offerings import EVERYWHERE, NOT_IN_AZ1, phases
from support.rules import findings_of


@pytest.mark.parametrize(
    ("name", "zone"),
    [(EVERYWHERE, "us-west-2a"), (NOT_IN_AZ1, "usw2-az2"), (NOT_IN_AZ1, "usw2-az1"), ("x", "us-west-2a")],
)
def test_says_nothing_where_it_is_known_or_of_a_type_of_ones_own(name: str, zone: str) -> None:
    assert findings_of(RULE, phases(name, zone)) == []


def test_warns_of_a_name_that_may_be_the_wrong_zone() -> None:
    (finding,) = findings_of(RULE, phases(NOT_IN_AZ1, "us-west-2a"))
    assert finding.severity is Severity.WARNING
    assert finding.message == (
        f"3 of 4 zones of us-west-2 offer {NOT_IN_AZ1}; which one us-west-2a is differs from account to account"
    )
    assert finding.remedy == "write the zone by id: usw2-az2, usw2-az3, usw2-az4"


@pytest.mark.parametrize(("zone", "region", "known"), [("usw2-az9", "us-west-2", 4), ("cn-north-1a", "cn-north-1", 0)])
def test_warns_of_a_zone_that_nobody_knows(zone: str, region: str, known: int) -> None:
    findings = findings_of(RULE, phases(NOT_IN_AZ1, zone, region))
    assert [finding.subject for finding in findings] == ["prefill.instance_type", "decode.instance_type"]
    assert findings[0].message == f"whether {zone} offers {EVERYWHERE} is not known; {known} zones of {region} are"


def test_leaves_a_region_without_the_type_to_the_error() -> None:
    assert findings_of(RULE, phases("p5.48xlarge", "af-south-1a", "af-south-1")) == []
