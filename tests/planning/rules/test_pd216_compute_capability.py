from typing import Any

import pytest

from constructs_pd.planning.rules.pd216_compute_capability import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


def capable(capability: str) -> dict[str, Any]:
    gpu: dict[str, Any] = {**FOUR_GPU_ROW["gpu"], "compute_capability": capability}  # type: ignore[dict-item]
    return {"custom_instances": [{**FOUR_GPU_ROW, "gpu": gpu}]}


@pytest.mark.parametrize("capability", ["8.0", "9.0", "12.0"])
def test_accepts_8_0_and_later(capability: str) -> None:
    assert findings_of(RULE, capable(capability)) == []


@pytest.mark.parametrize("capability", ["7.9", "7.5", "0.0"])
def test_refuses_what_is_older(capability: str) -> None:
    (finding,) = findings_of(RULE, capable(capability))
    assert finding.message == f"{capability} of L4, and vLLM's attention backends need 8.0"
