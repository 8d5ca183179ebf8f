from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd181_empty_promise import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "slo",
    [
        None,
        {"availability": 0.999},
        {"itl_p95_seconds": 0.05},
        {"ttft_p95_seconds": 2.0},
        {"ttft_p95_seconds": 2.0, "ttft_decode_seconds": 0.5},
    ],
)
def test_accepts_what_promises_something(slo: dict[str, Any] | None) -> None:
    assert findings_of(RULE, {"slo": slo}) == []


def test_refuses_an_slo_without_a_promise() -> None:
    (finding,) = findings_of(RULE, {"slo": {}})
    assert (finding.subject, finding.message) == ("slo", "it holds 0 promises")


def test_refuses_a_part_of_what_is_not_promised() -> None:
    (finding,) = findings_of(RULE, {"slo": {"ttft_decode_seconds": 0.5, "availability": 0.999}})
    assert finding.subject == "slo.ttft_decode_seconds"
    assert "0.5 s" in finding.message
