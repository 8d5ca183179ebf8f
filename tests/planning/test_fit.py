"""What the planner chooses so that the promised requests fit, and what it leaves alone."""

from __future__ import annotations

import math
from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import EngineMemoryRow
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.fit import FEWER_SEQUENCES, Fit, chosen_arguments, context_tokens, fit, settled
from support.specs import MODEL_ROW, plan_with, spec_with

ESTIMATES: EngineMemoryRow = load_catalog().engine_memory["0.26.0"]


def facts_of(changes: dict[str, Any] | None = None) -> Facts:
    return gather(spec_with(changes), load_catalog())


def chosen(changes: dict[str, Any] | None = None) -> dict[str, Any]:
    facts = facts_of(changes)
    return chosen_arguments(facts, facts.decode)


def fit_of(changes: dict[str, Any]) -> Fit:
    facts = facts_of(changes)
    found = fit(facts, facts.decode)
    assert found is not None
    return found


def test_vllms_defaults_stay_where_they_hold_what_is_promised() -> None:
    assert chosen() == {}
    assert plan_with().decode.memory is not None


@pytest.mark.parametrize(
    ("requests", "expected"),
    [
        (4, {}),
        (5, {"gpu_memory_utilization": 0.93}),
        (8, {"gpu_memory_utilization": 0.94}),
        (16, {"gpu_memory_utilization": 0.95, "max_num_seqs": 128}),
        (20, {"gpu_memory_utilization": 0.95, "max_num_seqs": 64}),
    ],
)
def test_more_memory_comes_before_fewer_sequences(requests: int, expected: dict[str, Any]) -> None:
    assert chosen({"decode.concurrent_requests": requests}) == expected


def test_never_fewer_sequences_than_are_promised() -> None:
    facts = facts_of({"decode.concurrent_requests": 100, "prefill.concurrent_requests": 100})
    found = settled(facts, facts.decode)
    assert found is not None
    assert found.shape.max_num_seqs >= 100
    assert set(FEWER_SEQUENCES) & set(range(100))


@pytest.mark.parametrize("stated", [{"gpu_memory_utilization": 0.93}, {"max_num_seqs": 200}])
def test_what_is_stated_stays(stated: dict[str, Any]) -> None:
    changes = {f"decode.{name}": value for name, value in stated.items()}
    assert chosen({**changes, "decode.concurrent_requests": 16}).items() >= stated.items()
    assert chosen({**changes}) == stated


def test_some_memory_stays_free() -> None:
    large = {"instance_type": "g6.12xlarge", "concurrent_requests": 10_000}
    facts = facts_of({"prefill": large, "decode": large})
    found = settled(facts, facts.decode)
    assert found is not None
    # Four GPUs of 22.03 GiB keep 3 GiB each: less than vLLM's default, which stays.
    assert found.gpu_memory_utilization == ESTIMATES.gpu_memory_utilization


def test_large_gpus_have_the_larger_defaults_and_a100_has_not() -> None:
    model = {"model": {"source": "Qwen/Qwen3-8B"}}
    large = fit_of({**model, "decode.instance_type": "p5.4xlarge"}).shape
    assert (large.max_num_seqs, large.max_num_batched_tokens) == (1024, 8192)
    small = fit_of({**model, "decode.instance_type": "p4de.24xlarge"}).shape
    assert (small.max_num_seqs, small.max_num_batched_tokens) == (256, 2048)


def test_no_more_sequences_than_tokens_of_a_step() -> None:
    assert fit_of({"decode.max_num_batched_tokens": 100}).shape.max_num_seqs == 100


def test_more_requests_than_vllms_default_are_more_sequences() -> None:
    large = {"instance_type": "g6e.8xlarge", "concurrent_requests": 300}
    changes = {"model": {"source": "Qwen/Qwen3-0.6B", "max_model_len": 1024}, "prefill": large, "decode": large}
    assert chosen(changes) == {"max_num_seqs": 300}


def test_without_chunked_prefill_a_step_is_a_whole_prompt() -> None:
    args = {"decode.engine_args": {"enable_chunked_prefill": False}}
    model = {"model": {"source": "Qwen/Qwen3-8B", "max_model_len": 40000}}
    assert fit_of({**model, **args}).shape.max_num_batched_tokens == 40000
    longest = fit_of({"model": {"source": "Qwen/Qwen3-8B"}, **args})
    assert longest.shape.max_num_batched_tokens == longest.context_tokens == 23904
    assert fit_of({**model, **args, "decode.max_num_batched_tokens": 50000}).shape.max_num_batched_tokens == 50000


def test_a_stated_block_size_counts() -> None:
    model = {"model": {"source": "Qwen/Qwen3-8B"}}
    assert fit_of({**model, "decode.engine_args": {"block_size": 64}}).layout.groups[0].block_tokens == 64
    for nonsense in (0, -16, "64", None):
        assert fit_of({**model, "decode.engine_args": {"block_size": nonsense}}).layout.groups[0].block_tokens == 16


def test_prefix_caching_of_a_hybrid_model_holds_two_states() -> None:
    plain = fit_of({}).layout.blocks_per_request(1024)
    caching = fit_of({"decode.engine_args": {"enable_prefix_caching": True}}).layout.blocks_per_request(1024)
    assert caching == plain + 3


def test_every_uncounted_argument_is_one_of_the_engine() -> None:
    known = set(load_catalog().engine_arguments["0.26.0"].engine)
    assert set(ESTIMATES.uncounted_arguments) <= known


def test_sizes_stated_by_hand_are_counted() -> None:
    sizes = {"weights_gib": 14.5, "kv_bytes_per_token": 4096, "state_bytes_per_request": 100_000}
    found = fit_of({"model": {"source": "acme/own-7b"}, "custom_models": [{**MODEL_ROW, "sizes": sizes}]})
    assert found.budget.weights == int(14.5 * 1024**3)
    # 64 blocks of tokens and 2 that hold the state.
    assert found.layout.bytes_per_request(1024) == (64 + 2) * 16 * 4096


@pytest.mark.parametrize("state_bytes", [0, 1, 10**12])
@pytest.mark.parametrize("kv_bytes", [1, 10**9])
def test_extreme_sizes_by_hand_are_counted_too(kv_bytes: int, state_bytes: int) -> None:
    sizes = {"weights_gib": 0.001, "kv_bytes_per_token": kv_bytes, "state_bytes_per_request": state_bytes}
    found = fit_of({"model": {"source": "acme/own-7b"}, "custom_models": [{**MODEL_ROW, "sizes": sizes}]})
    assert 0 <= found.requests < math.inf
    assert found.tokens >= 0
    assert found.layout.bytes_per_request(1024) >= 1024 * kv_bytes + state_bytes


def test_the_longest_context_is_served_that_fits_without_fewer_sequences() -> None:
    context = context_tokens(facts_of({"model.max_model_len": None}))
    assert context == 32736
    assert context % 16 == 0
    assert chosen({"model.max_model_len": None}) == {"gpu_memory_utilization": 0.95}
    plan_with({"model.max_model_len": context})


@pytest.mark.parametrize(("trained", "served"), [(1, 1), (10, 10), (17, 17), (1000, 1000)])
def test_no_more_context_is_served_than_the_models(trained: int, served: int) -> None:
    own = {**MODEL_ROW, "max_position_embeddings": trained, "sizes": {"weights_gib": 1, "kv_bytes_per_token": 64}}
    changes = {"model": {"source": "acme/own-7b"}, "custom_models": [own]}
    assert context_tokens(facts_of(changes)) == served


def test_where_that_holds_none_it_is_served_with_fewer_sequences() -> None:
    changes = {"model.max_model_len": None, "prefill.concurrent_requests": 20, "decode.concurrent_requests": 20}
    served = plan_with(changes).decode
    assert served.memory is not None
    assert served.memory.requests >= 20
    assert served.engine_arguments.keys() >= {"max_num_seqs", "gpu_memory_utilization"}


def test_no_context_is_known_of_an_unknown_model() -> None:
    assert context_tokens(facts_of({"model.source": "a/b", "model.max_model_len": None})) is None


def test_a_plan_of_unknown_sizes_has_no_memory_and_all_else() -> None:
    planned = plan_with({"model": {"source": "acme/own-7b"}, "custom_models": [MODEL_ROW]})
    assert planned.decode.memory is None
    assert planned.decode.engine_arguments["max_model_len"] == 8192
