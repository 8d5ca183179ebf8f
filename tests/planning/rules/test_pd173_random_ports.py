from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd173_random_ports import RULE, VARIABLES
from support.rules import findings_of


@pytest.mark.parametrize(
    "changes",
    [
        {"decode.pod.environment": {VARIABLES[0]: "1"}},
        {"decode.pod.environment": {VARIABLES[0]: "0"}, "network_policy": {}},
        {"decode.pod.environment": {"VLLM_LOGGING_LEVEL": "DEBUG"}, "network_policy": {}},
    ],
)
def test_accepts_ports_that_policies_name_or_no_policies(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize("variable", VARIABLES)
@pytest.mark.parametrize("pods", ["head", "prefill", "decode"])
def test_refuses_what_moves_requests_to_others(variable: str, pods: str) -> None:
    (finding,) = findings_of(RULE, {f"{pods}.pod.environment": {variable: "1"}, "network_policy": {}})
    assert finding.subject == f"{pods}.pod.environment.{variable}"
    assert "0 policies name" in finding.message
