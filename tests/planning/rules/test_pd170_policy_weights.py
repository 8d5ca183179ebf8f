from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd170_policy_weights import RULE
from support.rules import findings_of


@pytest.mark.parametrize(
    "changes",
    [
        {"model_cache": None},
        {"model_cache": None, "network_policy": {}},
        {"network_policy": {"egress_cidrs": []}},
    ],
)
def test_accepts_weights_that_are_there_or_fetched(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_weights_that_are_neither() -> None:
    (finding,) = findings_of(RULE, {"model_cache": None, "network_policy": {"egress_cidrs": []}})
    assert finding.subject == "network_policy.egress_cidrs"
    assert "Qwen/Qwen3.5-9B" in finding.message
