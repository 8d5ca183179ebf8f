"""What the phases are compared with has a tuning of its own, and a good one."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.engines import engine_on, requests_of
from constructs_pd.planning.performance.judge import advice_on
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.mixed import Mixed, best, same_gpus_aggregated
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.neutral import SEQUENCES, STEP_TOKENS, aggregated_of
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.rules import RULES
from support.specs import spec_with

CATALOG = load_catalog()
TARGETS = Targets(ttft_p95_seconds=2.0, itl_p95_seconds=0.05)
NODES = {
    "model": {"source": "Qwen/Qwen3-32B", "max_model_len": 16384},
    "prefill": {"instance_type": "p5.48xlarge", "replicas": 2},
    "decode": {"instance_type": "p5.48xlarge", "replicas": 1},
    "traffic": {"requests_per_second": 8.0, "prompt_tokens": 4000, "output_tokens": 300},
}


def facts(changes: dict[str, Any] | None = None) -> Facts:
    return gather(spec_with({**NODES, **(changes or {})}), CATALOG)


def requests(of: Facts) -> Requests:
    assert of.spec.traffic is not None
    found = requests_of(of.spec.traffic, 16384)
    assert found is not None
    return found


def together(of: Facts, targets: Targets = TARGETS, rate: float = 8.0) -> Mixed:
    found = same_gpus_aggregated(of, requests(of), targets, rate)
    assert found is not None
    return found


def groups_of(found: Mixed) -> tuple[Aggregated, ...]:
    """Return the groups of the last way to share the load, in which all serve."""
    return found.splits[-1].groups


@pytest.mark.parametrize("phase", ["prefill", "decode"])
@pytest.mark.parametrize(
    "tuning",
    [
        {"enforce_eager": True},
        {"max_num_seqs": 8},
        {"max_num_batched_tokens": 1024},
        {"gpu_memory_utilization": 0.7},
        {"concurrent_requests": 64},
        {"tensor_parallel": 4},
        {"engine_args": {"enable_chunked_prefill": False}},
        {"engine_args": {"block_size": 128}},
    ],
    ids=str,
)
@pytest.mark.parametrize("targets", [TARGETS, Targets()], ids=["targets", "none"])
def test_no_setting_of_a_phase_changes_it(phase: str, tuning: dict[str, Any], targets: Targets) -> None:
    tuned = facts({f"{phase}.{name}": value for name, value in tuning.items()})
    assert together(tuned, targets) == together(facts(), targets)


def test_the_settings_of_a_phase_change_the_phases_alone() -> None:
    slo = {"monitoring": {}, "slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05}}
    plain, eager = (advice_on(facts({**slo, "decode.enforce_eager": value})) for value in (False, True))
    assert plain is not None
    assert eager is not None
    assert eager.most_apart < plain.most_apart
    assert eager.most_together == plain.most_together
    assert eager.together == plain.together


def test_graphs_are_on_and_as_many_requests_as_fit_are_answered() -> None:
    instance = CATALOG.instances["p5.48xlarge"]
    of = facts({"decode.enforce_eager": True})
    found = list(aggregated_of(of, instance, 3, requests(of)))
    assert not any(each.engine.is_eager for each in found)
    assert {each.engine.step_tokens for each in found} == set(STEP_TOKENS)
    assert {each.engine.tensor_parallel for each in found} == {1, 2, 4, 8}
    assert {(each.engine.tensor_parallel, each.engine.step_tokens) for each in found} == {
        (size, tokens) for size in (1, 2, 4, 8) for tokens in STEP_TOKENS
    }
    for each in found:
        assert each.engines * each.engine.tensor_parallel == 3 * 8
    # On one GPU weights leave little; on eight there is more room than vLLM's largest default asks for.
    few, many = (
        next(each.engine for each in found if (each.engine.tensor_parallel, each.engine.step_tokens) == (size, 2048))
        for size in (1, 8)
    )
    assert few.sequences < 64
    assert many.sequences > 256
    answered = [each.engine.sequences for each in found if each.engine.tensor_parallel == 8]
    assert answered[:2] == [256, 64]  # of 512 tokens answers take half at most; fewer hold prompts up less


@pytest.mark.parametrize("model", [name for name, row in CATALOG.models.items() if row.facts is not None])
def test_no_engine_is_of_a_size_that_the_planner_refuses(model: str) -> None:
    of = facts({"model": {"source": model, "max_model_len": 4096}})
    instance, short = CATALOG.instances["p5.48xlarge"], Requests(100, 0, 10, 0.0)
    sizes = {each.engine.tensor_parallel for each in aggregated_of(of, instance, 1, short)}
    for size in (1, 2, 4, 8):
        phase = {"instance_type": "p5.48xlarge", "tensor_parallel": size}
        alike = facts({"model": of.spec.model.model_dump(), "prefill": phase, "decode": phase})
        refused = {rule.code for rule in RULES if rule.code in {"PD203", "PD209", "PD309"} and any(rule.check(alike))}
        assert size not in sizes or refused <= {"PD203"}, size  # other settings may fit
        assert size in sizes or refused, size


def test_no_engine_gets_parts_of_the_blocks_that_share_a_scale() -> None:
    model = {"source": "Qwen/Qwen3-235B-A22B-FP8", "max_model_len": 8192}
    halves = {f"{phase}.tensor_parallel": 4 for phase in ("prefill", "decode")}
    (group,) = groups_of(together(facts({"model": model, **halves})))
    assert group.engine.tensor_parallel == 4  # of 8 each would get half a block of 192 rows


def test_no_engine_lacks_the_room_for_one_request_of_the_whole_context() -> None:
    instance, short = CATALOG.instances["g6.48xlarge"], Requests(100, 0, 10, 0.0)
    for context, sizes in ((4096, {1, 2, 4, 8}), (40960, {2, 4, 8})):
        of = facts({"model": {"source": "Qwen/Qwen3-8B", "max_model_len": context}})
        assert {each.engine.tensor_parallel for each in aggregated_of(of, instance, 1, short)} == sizes


def test_what_memory_holds_decides_over_the_largest_default() -> None:
    # Logits of more sequences take the memory of their KV cache.
    instance, of = CATALOG.instances["g6.8xlarge"], Requests(2000, 0, 300, 0.0)
    model = {"model.source": "Qwen/Qwen3-8B"}
    found = next(each for each in aggregated_of(facts(model), instance, 1, of) if each.engine.step_tokens == 2048)
    answered = {}
    for sequences in SEQUENCES:
        phase = {"instance_type": "g6.8xlarge", "max_num_batched_tokens": 2048, "max_num_seqs": sequences}
        tuned = facts({**model, "decode": phase})
        engine = engine_on(tuned, tuned.decode, instance, 1, of)
        answered[sequences] = engine.sequences if engine else 0
    assert found.engine.sequences == max(answered.values())
    assert answered[1024] < max(answered.values()) < 1024


QUICK_FIRST, STEADY = Targets(ttft_p95_seconds=0.5), Targets(ttft_p95_seconds=5.0, itl_seconds=0.03)


@pytest.mark.parametrize("targets", [QUICK_FIRST, STEADY, TARGETS], ids=["first token", "between tokens", "both"])
def test_engines_and_chunks_are_those_that_serve_most_within_the_targets(targets: Targets) -> None:
    of = facts()
    (group,) = groups_of(together(of, targets))
    others = aggregated_of(of, CATALOG.instances["p5.48xlarge"], 3, requests(of))
    rates = [most_rate(each, requests(of), targets) for each in others]
    assert most_rate(group, requests(of), targets) == pytest.approx(max(rates), rel=1e-4)
    assert max(rates) > 1.2 * sorted(rates)[len(rates) // 2]


def test_a_promise_between_tokens_asks_for_smaller_chunks_than_one_of_the_first() -> None:
    (first,), (between,) = (groups_of(together(facts(), targets)) for targets in (QUICK_FIRST, STEADY))
    assert between.engine.step_tokens < first.engine.step_tokens


def test_where_no_tuning_meets_the_targets_it_is_the_one_that_serves_most() -> None:
    of = facts()
    found = list(aggregated_of(of, CATALOG.instances["p5.48xlarge"], 1, requests(of)))
    chosen = best(found, requests(of), Targets(itl_p95_seconds=1e-4), 1.0)
    assert full_rate(chosen, requests(of)) == pytest.approx(max(full_rate(each, requests(of)) for each in found))


def test_without_targets_it_is_the_one_that_answers_soonest() -> None:
    of = facts()
    found = list(aggregated_of(of, CATALOG.instances["p5.48xlarge"], 1, requests(of)))
    chosen = best(found, requests(of), Targets(), 1.0)
    soonest = min(each.latency(requests(of), 1.0).answer_seconds(300) for each in found)
    assert chosen.latency(requests(of), 1.0).answer_seconds(300) == soonest


def test_nodes_of_one_type_are_one_group_and_those_of_two_are_two() -> None:
    (group,) = groups_of(together(facts()))
    assert group.engines * group.engine.tensor_parallel == 24
    first, second = groups_of(together(facts({"decode.instance_type": "p5en.48xlarge"})))
    assert isinstance(first, Aggregated)
    assert first.engines * first.engine.tensor_parallel == 16
    assert second.engines * second.engine.tensor_parallel == 8
    assert first.engine.gpu.gpu != second.engine.gpu.gpu


def test_without_targets_each_of_two_types_is_chosen_for_what_it_gets_of_the_rate() -> None:
    of, rate = facts({"decode.instance_type": "g6e.48xlarge"}), 14.0
    *alone, both = together(of, Targets(), rate).splits
    assert both.shares[0] > 0.8
    for number, (name, nodes) in enumerate((("p5.48xlarge", 2), ("g6e.48xlarge", 1))):
        found = list(aggregated_of(of, CATALOG.instances[name], nodes, requests(of)))
        assert both.groups[number] == best(found, requests(of), Targets(), rate * both.shares[number])
        assert alone[number].groups == (best(found, requests(of), Targets(), rate),)
    assert both.groups[1] != best(found, requests(of), Targets(), rate / 2)


def test_strong_nodes_serve_alone_where_weak_ones_break_a_promise() -> None:
    model = {"source": "Qwen/Qwen3-8B", "max_model_len": 8192}
    traffic = {"requests_per_second": 10.0, "prompt_tokens": 1500, "output_tokens": 250}
    nodes = {
        "prefill": {"instance_type": "g6.8xlarge", "replicas": 5},
        "decode": {"instance_type": "p5.4xlarge", "replicas": 1},
    }
    of, targets = (
        facts({"model": model, "traffic": traffic, **nodes}),
        Targets(ttft_p95_seconds=3.0, itl_p95_seconds=0.03),
    )
    found = together(of, targets, 10.0)
    assert targets.are_met(found.latency(requests(of), 10.0))
    assert most_rate(found, requests(of), targets) > 10


def test_fewer_at_once_are_taken_where_a_full_cache_holds_prompts_up() -> None:
    of = facts()
    long = Requests(12_000, 0, 300, 0.0)
    found = [
        each
        for each in aggregated_of(of, CATALOG.instances["p5.48xlarge"], 1, long)
        if (each.engine.tensor_parallel, each.engine.step_tokens) == (8, 512)
    ]
    rates = [full_rate(each, long) for each in found]
    assert rates[0] < max(rates)
    assert full_rate(best(found, long, Targets(itl_p95_seconds=1e-4), 1.0), long) == max(rates)
