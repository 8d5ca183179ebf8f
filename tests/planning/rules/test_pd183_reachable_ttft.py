from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd183_reachable_ttft import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "slo",
    [
        None,
        {"itl_p95_seconds": 0.05},
        {"ttft_p95_seconds": 2.0},
        {"ttft_p95_seconds": 0.251, "itl_p95_seconds": 0.05},
        {"ttft_p95_seconds": 0.1, "ttft_decode_seconds": 0.099},
    ],
)
def test_accepts_what_leaves_time_for_both_phases(slo: dict[str, Any] | None) -> None:
    assert findings_of(RULE, {"slo": slo}) == []


def test_refuses_a_promise_that_decode_needs_alone() -> None:
    (finding,) = findings_of(RULE, {"slo": {"ttft_p95_seconds": 0.25, "itl_p95_seconds": 0.05}})
    assert finding.subject == "slo.ttft_p95_seconds"
    assert "of 0.25 s decode needs 0.25 s" in finding.message
    assert "0.0584 s" in finding.message


def test_refuses_a_part_of_decode_that_is_the_whole() -> None:
    (finding,) = findings_of(RULE, {"slo": {"ttft_p95_seconds": 0.1, "ttft_decode_seconds": 0.1}})
    assert finding.subject == "slo.ttft_decode_seconds"
    assert "0.1 s for decode of the promised 0.1 s" in finding.message


def test_says_nothing_where_the_hand_over_is_not_reckoned() -> None:
    changes = {"decode.instance_type": "p5.48large", "slo": {"ttft_p95_seconds": 0.02}}
    assert findings_of(RULE, changes) == []
