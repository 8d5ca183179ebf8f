import pytest

from constructs_pd.planning.rules.pd121_reservation import RULE
from support.rules import findings_of
from support.specs import reserved


def test_accepts_on_demand_nodes_without_a_reservation() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("capacity", ["reservation", "capacity_block"])
def test_accepts_reserved_nodes_with_one(capacity: str) -> None:
    assert findings_of(RULE, reserved("decode", capacity=capacity)) == []


@pytest.mark.parametrize("capacity", ["reservation", "capacity_block"])
def test_refuses_reserved_nodes_without_one(capacity: str) -> None:
    (finding,) = findings_of(RULE, {"prefill.capacity": capacity})
    assert finding.subject == "prefill.capacity"
    assert finding.message == f"{capacity} needs 1 reservation, 0 are named"


def test_refuses_a_reservation_that_on_demand_nodes_would_not_use() -> None:
    (finding,) = findings_of(RULE, reserved("prefill", capacity="on_demand"))
    assert finding.subject == "prefill.reservation"
    assert "cr-0123456789abcdef0" in finding.message
