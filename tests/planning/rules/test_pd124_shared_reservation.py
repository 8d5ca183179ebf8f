from typing import Any

import pytest

from constructs_pd.planning.rules.pd124_shared_reservation import RULE
from support.rules import findings_of
from support.specs import reserved

BOTH = {**reserved("prefill"), **reserved("decode")}


@pytest.mark.parametrize("changes", [{}, reserved("prefill"), BOTH])
def test_accepts_none_one_and_the_same(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_accepts_two_reservations_that_differ_in_everything() -> None:
    other = reserved("decode", id="cr-0123456789abcdef1", instance_count=1, placement_group="other")
    assert findings_of(RULE, {**BOTH, **other, "decode.instance_type": "g6.16xlarge"}) == []


@pytest.mark.parametrize(
    ("field", "value", "expected"),
    [
        ("instance_type", "g6.16xlarge", "'g6.16xlarge' here and 'g6.8xlarge' in prefill.instance_type"),
        ("capacity", "capacity_block", "'capacity_block' here and 'reservation' in prefill.capacity"),
        ("reservation.instance_count", 5, "5 here and 4 in prefill.reservation.instance_count"),
        ("reservation.placement_group", "p", "'p' here and None in prefill.reservation.placement_group"),
    ],
)
def test_refuses_one_reservation_described_in_two_ways(field: str, value: Any, expected: str) -> None:
    (finding,) = findings_of(RULE, {**BOTH, f"decode.{field}": value})
    assert finding.subject == f"decode.{field}"
    assert finding.message == f"cr-0123456789abcdef0 has {expected}"
