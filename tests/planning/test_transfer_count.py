"""How many transfers a KV cache is handed over in."""

from __future__ import annotations

import pytest

from constructs_pd.planning.transfer_count import transfers_of_request
from support.changes import CATALOG
from support.specs import plan_with

PLAIN, LATENT = "Qwen/Qwen3-8B", "deepseek-ai/DeepSeek-R1"


@pytest.mark.parametrize(
    ("prefill", "decode", "source", "transfers"),
    [
        (1, 1, PLAIN, 1),
        (1, 8, PLAIN, 8),
        (2, 4, PLAIN, 4),
        (4, 2, PLAIN, 4),
        (8, 1, PLAIN, 8),
        (8, 1, LATENT, 1),
        (8, 2, LATENT, 2),
        (2, 8, LATENT, 8),
    ],
)
def test_each_gpu_of_the_larger_side_has_a_part(prefill: int, decode: int, source: str, transfers: int) -> None:
    assert transfers_of_request(prefill, decode, CATALOG.models[source]) == transfers


def test_a_model_that_is_not_known_is_taken_for_plain() -> None:
    assert transfers_of_request(4, 2, None) == 4


def test_the_plan_of_monitoring_has_it() -> None:
    phase = {"instance_type": "p5.48xlarge"}
    changes = {
        "model": {"source": PLAIN},
        "prefill": {**phase, "tensor_parallel": 4},
        "decode": {**phase, "tensor_parallel": 2},
    }
    found = plan_with({"monitoring": {}, **changes}).monitoring
    assert found is not None
    assert found.transfers_of_request == 4
