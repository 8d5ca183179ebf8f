from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd189_hand_over_promise import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "slo",
    [
        None,
        {"itl_p95_seconds": 0.05},
        {"ttft_p95_seconds": 2.0},
        {"ttft_p95_seconds": 2.0, "ttft_decode_seconds": 0.06},
    ],
)
def test_accepts_time_enough(slo: dict[str, Any] | None) -> None:
    assert findings_of(RULE, {"slo": slo}) == []


def test_warns_of_less_time_than_the_hand_over_takes() -> None:
    (finding,) = findings_of(RULE, {"slo": {"ttft_p95_seconds": 2.0, "ttft_decode_seconds": 0.05}})
    assert finding.subject == "slo.ttft_decode_seconds"
    assert "0.05 s" in finding.message
    assert "0.0584 s" in finding.message
