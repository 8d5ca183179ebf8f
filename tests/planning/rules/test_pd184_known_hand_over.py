from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd184_known_hand_over import RULE
from support.rules import findings_of
from support.specs import MODEL_ROW

# A model of the catalogue without sizes: nobody knows what a request takes.
UNKNOWN: dict[str, Any] = {"model.source": "acme/own-7b", "custom_models": [MODEL_ROW]}


@pytest.mark.parametrize(
    "changes",
    [
        {"slo": {"ttft_p95_seconds": 2.0}},
        {**UNKNOWN},
        {**UNKNOWN, "slo": {"itl_p95_seconds": 0.05}},
        {**UNKNOWN, "slo": {"ttft_p95_seconds": 2.0, "ttft_decode_seconds": 0.5}},
        {"decode.instance_type": "p5.48large", "slo": {"ttft_p95_seconds": 2.0}},
    ],
)
def test_accepts_what_can_be_divided(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_asks_for_the_part_of_decode_where_the_hand_over_is_not_known() -> None:
    (finding,) = findings_of(RULE, {**UNKNOWN, "slo": {"ttft_p95_seconds": 2.0}})
    assert finding.subject == "slo.ttft_decode_seconds"
    assert "2 s" in finding.message
    assert "0.5" in finding.remedy
