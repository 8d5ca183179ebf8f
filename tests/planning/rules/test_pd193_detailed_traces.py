from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd193_detailed_traces import ARGUMENT, RULE
from support.rules import findings_of

DETAILED = {f"{phase}.engine_args": {ARGUMENT: ["model"]} for phase in ("prefill", "decode")}


@pytest.mark.parametrize(
    "changes",
    [{}, {"prefill.engine_args": {ARGUMENT: None}}, {**DETAILED, "tracing.otlp_endpoint": "http://collector:4317"}],
)
def test_accepts_details_that_go_somewhere(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_details_without_traces() -> None:
    found = findings_of(RULE, DETAILED)
    assert [finding.subject for finding in found] == [
        f"{phase}.engine_args.{ARGUMENT}" for phase in ("prefill", "decode")
    ]
    assert "0 collectors" in found[0].message
