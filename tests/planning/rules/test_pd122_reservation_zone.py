import pytest

from constructs_pd.planning.rules.pd122_reservation_zone import RULE
from support.rules import findings_of
from support.specs import reserved


@pytest.mark.parametrize("zone", ["us-west-2a", "usw2-az1"])
def test_accepts_the_zone_of_the_nodes(zone: str) -> None:
    assert findings_of(RULE, {**reserved("decode", availability_zone=zone), "availability_zone": zone}) == []


@pytest.mark.parametrize(("of_nodes", "reserving"), [("us-west-2a", "us-west-2b"), ("usw2-az1", "usw2-az2")])
def test_refuses_another_zone_with_both(of_nodes: str, reserving: str) -> None:
    changes = {**reserved("decode", availability_zone=reserving), "availability_zone": of_nodes}
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == "decode.reservation.availability_zone"
    assert finding.message == f"cr-0123456789abcdef0 reserves in {reserving!r}, the nodes stand in {of_nodes!r}"


@pytest.mark.parametrize(("of_nodes", "reserving"), [("us-west-2a", "usw2-az1"), ("usw2-az1", "us-west-2a")])
def test_refuses_to_compare_a_name_with_an_id(of_nodes: str, reserving: str) -> None:
    changes = {**reserved("decode", availability_zone=reserving), "availability_zone": of_nodes}
    (finding,) = findings_of(RULE, changes)
    assert "cannot be compared" in finding.message
