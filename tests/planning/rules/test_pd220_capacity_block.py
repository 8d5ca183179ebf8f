import pytest

from constructs_pd.planning.rules.pd220_capacity_block import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, reserved

BLOCK = reserved("decode", capacity="capacity_block")


@pytest.mark.parametrize("name", ["p4d.24xlarge", "p5.48xlarge", "p6-b300.48xlarge", "x"])
def test_accepts_types_that_are_sold_so(name: str) -> None:
    assert findings_of(RULE, {**BLOCK, "decode.instance_type": name}) == []


def test_accepts_every_type_in_an_ordinary_reservation() -> None:
    assert findings_of(RULE, reserved("decode")) == []


def test_refuses_a_type_that_is_not_with_those_that_are() -> None:
    (finding,) = findings_of(RULE, BLOCK)
    assert finding.subject == "decode.capacity"
    assert finding.message == "g6.8xlarge is not sold in Capacity Blocks; 8 types are"
    assert "p5.48xlarge" in finding.remedy


@pytest.mark.parametrize(("sold", "messages"), [(True, 0), (None, 1), (False, 1)])
def test_reads_a_row_of_ones_own_and_does_not_guess(sold: bool | None, messages: int) -> None:
    row = FOUR_GPU_ROW | {"capacity_blocks": sold}
    findings = findings_of(RULE, {**BLOCK, "decode.instance_type": "g6.12xlarge", "custom_instances": [row]})
    assert len(findings) == messages
    if sold is None:
        assert "is not known to be sold" in findings[0].message
