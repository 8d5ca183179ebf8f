from typing import Any

import pytest

from constructs_pd.planning.rules.pd215_duplicate_rows import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, IMAGE_ROW, MODEL_ROW

KINDS = [("custom_instances", FOUR_GPU_ROW), ("custom_models", MODEL_ROW), ("custom_images", IMAGE_ROW)]


def test_accepts_one_row_of_each_kind() -> None:
    assert findings_of(RULE, {field: [row] for field, row in KINDS}) == []


@pytest.mark.parametrize(("field", "row"), KINDS)
def test_refuses_the_second_row_of_a_name(field: str, row: dict[str, Any]) -> None:
    (finding,) = findings_of(RULE, {field: [row, row]})
    assert finding.subject == f"{field}.1"
    assert finding.message.endswith("is row 0 and row 1")
