"""Where a GPU's memory goes, term by term."""

from __future__ import annotations

from dataclasses import replace

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.gpu_memory import GIB, EngineShape, MemoryBudget, memory_budget

ESTIMATES = load_catalog().engine_memory["0.26.0"]
SHAPE = EngineShape(tensor_parallel=1, max_num_seqs=256, max_num_batched_tokens=2048, is_eager=True)
MARGIN = round(ESTIMATES.activation_margin_gib * GIB)


def budget_of(model: str | None, shape: EngineShape = SHAPE, utilization: float = 0.9) -> MemoryBudget:
    facts = load_catalog().models[model].facts if model else None
    return memory_budget(
        facts,
        shape,
        total_bytes=22 * GIB,
        gpu_memory_utilization=utilization,
        weight_bytes=15 * GIB,
        estimates=ESTIMATES,
    )


def test_what_is_left_is_the_kv_cache() -> None:
    budget = budget_of("Qwen/Qwen3-8B")
    assert budget.usable == int(22 * GIB * 0.9)
    taken = budget.weights + budget.activations + budget.outside_pytorch + budget.graphs
    assert budget.kv_cache == budget.usable - taken
    assert (budget.total, budget.weights) == (22 * GIB, 15 * GIB)


def test_sampling_holds_copies_of_the_logits() -> None:
    # 256 sequences, 151,936 tokens in the vocabulary, 4 bytes, 3 copies in the second runner.
    assert budget_of("Qwen/Qwen3-8B").activations == 3 * 256 * 151936 * 4 + MARGIN


def test_a_large_batch_outweighs_them() -> None:
    large = budget_of("Qwen/Qwen3-8B", replace(SHAPE, max_num_batched_tokens=32768))
    # Hidden size 4,096, inner size 12,288, 2 bytes.
    assert large.activations == 32768 * 3 * (4096 + 12288) * 2 + MARGIN


def test_no_more_rows_are_sampled_than_a_step_has_tokens() -> None:
    few = budget_of("Qwen/Qwen3-8B", replace(SHAPE, max_num_seqs=256, max_num_batched_tokens=64))
    assert few.activations == 3 * 64 * 151936 * 4 + MARGIN


def test_experts_hold_what_their_tokens_need() -> None:
    experts = budget_of("Qwen/Qwen3-30B-A3B", replace(SHAPE, max_num_seqs=1, max_num_batched_tokens=8192))
    # 8 experts a token, inner size 768, hidden size 2,048.
    assert experts.activations == 8192 * (8 * (2048 + 2048) + 2048) * 2 + MARGIN


def test_a_vision_tower_has_its_own_share() -> None:
    assert budget_of("Qwen/Qwen3-VL-8B-Instruct").activations - budget_of("Qwen/Qwen3-8B").activations == round(
        ESTIMATES.vision_gib * GIB
    )


@pytest.mark.parametrize(("gpus", "gib"), [(1, 0.1), (2, 0.55), (3, 0.55), (4, 0.95), (8, 1.2), (16, 1.2)])
def test_more_gpus_need_more_outside_pytorch(gpus: int, gib: float) -> None:
    budget = budget_of("Qwen/Qwen3-8B", replace(SHAPE, tensor_parallel=gpus))
    assert budget.outside_pytorch == round(gib * GIB)


@pytest.mark.parametrize(
    ("model", "has_graphs"),
    [("Qwen/Qwen3-8B", False), ("Qwen/Qwen3.5-9B", True), ("openai/gpt-oss-20b", True)],
)
def test_graphs_are_set_aside_by_the_first_runner_unless_eager(model: str, has_graphs: bool) -> None:
    assert budget_of(model).graphs == 0
    with_graphs = budget_of(model, replace(SHAPE, is_eager=False))
    assert with_graphs.graphs == (round(ESTIMATES.graphs_gib * GIB) if has_graphs else 0)


def test_a_model_stated_by_hand_is_taken_to_need_a_round_number() -> None:
    budget = budget_of(None, replace(SHAPE, is_eager=False))
    assert (budget.activations, budget.graphs) == (2 * GIB, 0)
