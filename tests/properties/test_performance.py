"""Predictions behave: more nodes and wider links never make anything slower, and every number has an end."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import isfinite

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.mixed import mixed
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.targets import Targets
from constructs_pd.planning.performance.work import Work, work_of
from support.strategies_runs import examples

CATALOG = load_catalog()
# One of each kind: dense, experts, latent attention, windows, and states.
MODELS = (
    "Qwen/Qwen3-8B",
    "meta-llama/Meta-Llama-3.1-70B",
    "Qwen/Qwen3-30B-A3B-FP8",
    "deepseek-ai/DeepSeek-V3",
    "openai/gpt-oss-120b",
    "Qwen/Qwen3.5-9B",
)
CAPABILITIES = {"L4": "8.9", "L40S": "8.9", "A100": "8.0", "A10G": "8.6", "H100": "9.0", "H200": "9.0", "B200": "10.0"}
TIMES = ("ttft_mean", "ttft_p50", "ttft_p95", "itl_mean", "itl_p95")
# Rates and batches are found by halving, to a millionth.
ROUNDING = 1 + 1e-4
# Where nothing can be served at all, a rate is drawn all the same.
LEAST_RATE = 1e-4
WORK: dict[tuple[str, int, str], Work] = {}


def _work(model: str, gpus: int, capability: str) -> Work:
    key = (model, gpus, capability)
    if key not in WORK:
        facts = CATALOG.models[model].facts
        assert facts is not None
        WORK[key] = work_of(facts, gpus, capability)
    return WORK[key]


@st.composite
def engines(draw: st.DrawFn) -> Engine:
    gpu = draw(st.sampled_from([row for row in CATALOG.gpu_speed.values() if row.gpu.split()[0] in CAPABILITIES]))
    gpus = draw(st.sampled_from([1, 2, 4, 8]))
    work = _work(draw(st.sampled_from(MODELS)), gpus, CAPABILITIES[gpu.gpu.split()[0]])
    tokens, sequences = draw(st.sampled_from([512, 2048, 8192])), draw(st.integers(1, 1024))
    return Engine(work, gpu, CATALOG.engine_speed["0.26.0"], gpus, tokens, sequences)


@st.composite
def requests(draw: st.DrawFn) -> Requests:
    prompt, cached, output = draw(st.floats(1, 100_000)), draw(st.floats(0, 50_000)), draw(st.floats(1, 10_000))
    stated = Requests(prompt, cached, output, draw(st.floats(0, 5)))
    return stated.within(draw(st.one_of(st.none(), st.floats(output + 1, 300_000))))


seconds = st.floats(0, 10)
hand_overs = st.builds(HandOver, st.floats(0, 0.1), st.floats(0, 0.5), seconds, seconds, seconds)


@st.composite
def apart(draw: st.DrawFn) -> Disaggregated:
    decode = draw(engines())
    prefill = replace(draw(engines()), work=decode.work, gpu=decode.gpu, tensor_parallel=decode.tensor_parallel)
    return Disaggregated(prefill, decode, draw(st.integers(1, 50)), draw(st.integers(1, 50)), draw(hand_overs))


together = st.builds(Aggregated, engines(), st.integers(1, 50))
promises = st.builds(
    Targets,
    ttft_p95_seconds=st.one_of(st.none(), st.floats(0.01, 30)),
    itl_p95_seconds=st.one_of(st.none(), st.floats(0.001, 1)),
)


@dataclass(frozen=True)
class Load:
    """Requests for engines, at a rate that is drawn as a share of what is the most that they can."""

    served: Disaggregated | Aggregated
    of: Requests
    rate: float


@st.composite
def loads(draw: st.DrawFn, ways: st.SearchStrategy[Disaggregated | Aggregated]) -> Load:
    served, of = draw(ways), draw(requests())
    return Load(served, of, draw(st.floats(1e-3, 1.1)) * max(full_rate(served, of), LEAST_RATE))


def is_never_slower(more: Latency, less: Latency) -> None:
    for name in TIMES:
        assert getattr(more, name) <= getattr(less, name) * ROUNDING, name
    assert more.utilization <= less.utilization * ROUNDING


@pytest.mark.parametrize("ways", [apart(), together], ids=["apart", "together"])
def test_most_loads_are_served_and_some_are_not(ways: st.SearchStrategy[Disaggregated | Aggregated]) -> None:
    found: list[bool] = []

    @settings(database=None, deadline=None, derandomize=True, max_examples=200)
    @given(loads(ways))
    def collect(load: Load) -> None:
        found.append(load.served.latency(load.of, load.rate).is_saturated)

    collect()
    assert 0.02 <= sum(found) / len(found) <= 0.3


@examples(200)
@given(loads(apart()), st.integers(0, 20), st.integers(0, 20))
def test_more_replicas_never_raise_the_latency_of_phases_apart(load: Load, prefill: int, decode: int) -> None:
    served = load.served
    assert isinstance(served, Disaggregated)
    more = served.with_engines(served.prefill_engines + prefill, served.decode_engines + decode)
    is_never_slower(more.latency(load.of, load.rate), served.latency(load.of, load.rate))


@examples(200)
@given(loads(together), st.integers(1, 20))
def test_more_replicas_never_raise_the_latency_of_phases_together(load: Load, added: int) -> None:
    served = load.served
    assert isinstance(served, Aggregated)
    more = Aggregated(served.engine, served.engines + added)
    is_never_slower(more.latency(load.of, load.rate), served.latency(load.of, load.rate))


@examples(20)
@given(together, together, requests(), promises, st.floats(0.01, 1.1))
def test_another_kind_of_nodes_never_makes_it_serve_less_or_break_a_promise(
    first: Aggregated, second: Aggregated, of: Requests, targets: Targets, share: float
) -> None:
    one, two = mixed((first,), of, targets), mixed((first, second), of, targets)
    assert full_rate(two, of) * ROUNDING >= full_rate(one, of)
    rate = share * max(full_rate(one, of), LEAST_RATE)
    before, after = one.latency(of, rate), two.latency(of, rate)
    if targets.is_empty:  # what answers soonest may be busy
        assert after.answer_seconds(of.output_tokens) <= before.answer_seconds(of.output_tokens)
        return
    assert most_rate(two, of, targets) * ROUNDING >= most_rate(one, of, targets)
    assert targets.are_met(after) or not targets.are_met(before)
    assert targets.worst(after) <= targets.worst(before)


@examples(20)
@given(together, together, requests(), promises, st.integers(1, 20))
def test_more_nodes_of_one_of_two_kinds_never_make_them_serve_less(
    first: Aggregated, second: Aggregated, of: Requests, targets: Targets, added: int
) -> None:
    few, many = (
        mixed((replace(first, engines=engines), second), of, targets)
        for engines in (first.engines, first.engines + added)
    )
    assert full_rate(many, of) * ROUNDING >= full_rate(few, of)
    if not targets.is_empty:
        assert most_rate(many, of, targets) * ROUNDING >= most_rate(few, of, targets)


@examples(200)
@given(loads(apart()), st.floats(1, 100))
def test_more_bandwidth_never_raises_the_transfer_time(load: Load, factor: float) -> None:
    served = load.served
    assert isinstance(served, Disaggregated)
    slow = served.hand_over
    quick = HandOver(
        slow.fixed_seconds,
        slow.posting_seconds,
        slow.wire_seconds / factor,
        slow.prefill_seconds / factor,
        slow.decode_seconds / factor,
    )
    numbers = (load.rate, served.prefill_engines, served.decode_engines)
    assert quick.share_of_link(*numbers) <= slow.share_of_link(*numbers)
    wider = replace(served, hand_over=quick)
    before, after = (way.mean_hand_over_seconds(load.of, load.rate) for way in (served, wider))
    assert before is None or (after is not None and after <= before)
    is_never_slower(wider.latency(load.of, load.rate), served.latency(load.of, load.rate))


@examples(200)
@given(loads(st.one_of(apart(), together)), st.floats(1, 3))
def test_more_requests_never_lower_the_latency(load: Load, factor: float) -> None:
    is_never_slower(load.served.latency(load.of, load.rate / factor), load.served.latency(load.of, load.rate))


@examples(200)
@given(loads(st.one_of(apart(), together)))
def test_every_number_has_an_end_where_the_rate_can_be_served(load: Load) -> None:
    found = load.served.latency(load.of, load.rate)
    times = [getattr(found, name) for name in TIMES]
    assert isfinite(found.utilization)
    assert all(time > 0 for time in times)
    assert all(map(isfinite, times)) or (found.is_saturated and found.utilization >= 1)


@examples(50)
@given(st.one_of(apart(), together), requests(), st.floats(0.01, 30), st.floats(0.001, 1))
def test_the_most_rate_meets_the_targets_and_is_no_more_than_the_full_one(
    served: Disaggregated | Aggregated, of: Requests, ttft: float, itl: float
) -> None:
    targets = Targets(ttft_p95_seconds=ttft, itl_seconds=itl)
    most, full = most_rate(served, of, targets), full_rate(served, of)
    assert 0 <= most <= full * ROUNDING
    assert isfinite(full)
    if most > 0:
        assert targets.are_met(served.latency(of, most))
