"""Predictions behave: more nodes and wider links never make anything slower, and every number has an end."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite

from hypothesis import given
from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import Work, work_of
from constructs_pd.planning.spec_targets import Targets
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


requests = st.builds(Requests, st.floats(1, 100_000), st.floats(0, 50_000), st.floats(1, 10_000), st.floats(0, 5))
rates = st.floats(1e-4, 1e3)
seconds = st.floats(0, 10)
hand_overs = st.builds(HandOver, st.floats(0, 0.1), st.floats(0, 0.5), seconds, seconds, seconds)


@st.composite
def apart(draw: st.DrawFn) -> Disaggregated:
    decode = draw(engines())
    prefill = replace(draw(engines()), work=decode.work, gpu=decode.gpu, tensor_parallel=decode.tensor_parallel)
    return Disaggregated(prefill, decode, draw(st.integers(1, 50)), draw(st.integers(1, 50)), draw(hand_overs))


together = st.builds(Aggregated, engines(), st.integers(1, 50))


def is_never_slower(more: Latency, less: Latency) -> None:
    for name in TIMES:
        assert getattr(more, name) <= getattr(less, name) * ROUNDING, name
    assert more.utilization <= less.utilization * ROUNDING


@examples(200)
@given(apart(), requests, rates, st.integers(0, 20), st.integers(0, 20))
def test_more_replicas_never_raise_the_latency_of_phases_apart(
    served: Disaggregated, of: Requests, rate: float, prefill: int, decode: int
) -> None:
    more = served.with_engines(served.prefill_engines + prefill, served.decode_engines + decode)
    is_never_slower(more.latency(of, rate), served.latency(of, rate))


@examples(200)
@given(together, requests, rates, st.integers(1, 20))
def test_more_replicas_never_raise_the_latency_of_phases_together(
    served: Aggregated, of: Requests, rate: float, added: int
) -> None:
    more = Aggregated(served.engine, served.engines + added)
    is_never_slower(more.latency(of, rate), served.latency(of, rate))


@examples(200)
@given(apart(), requests, rates, st.floats(1, 100))
def test_more_bandwidth_never_raises_the_transfer_time(
    served: Disaggregated, of: Requests, rate: float, factor: float
) -> None:
    slow = served.hand_over
    quick = HandOver(
        slow.fixed_seconds,
        slow.posting_seconds,
        slow.wire_seconds / factor,
        slow.prefill_seconds / factor,
        slow.decode_seconds / factor,
    )
    numbers = (rate, served.prefill_engines, served.decode_engines)
    assert quick.share_of_link(*numbers) <= slow.share_of_link(*numbers)
    before, after = slow.seconds(*numbers), quick.seconds(*numbers)
    assert before is None or (after is not None and after <= before)
    is_never_slower(replace(served, hand_over=quick).latency(of, rate), served.latency(of, rate))


@examples(200)
@given(st.one_of(apart(), together), requests, rates, st.floats(1, 100))
def test_more_requests_never_lower_the_latency(
    served: Disaggregated | Aggregated, of: Requests, rate: float, factor: float
) -> None:
    is_never_slower(served.latency(of, rate), served.latency(of, rate * factor))


@examples(200)
@given(st.one_of(apart(), together), requests, rates)
def test_every_number_has_an_end_where_the_rate_can_be_served(
    served: Disaggregated | Aggregated, of: Requests, rate: float
) -> None:
    found = served.latency(of, rate)
    times = [getattr(found, name) for name in TIMES]
    assert isfinite(found.utilization)
    assert all(time > 0 for time in times)
    assert all(map(isfinite, times)) or (found.is_saturated and found.utilization >= 1)


@examples(50)
@given(st.one_of(apart(), together), requests, st.floats(0.01, 30), st.floats(0.001, 1))
def test_the_most_rate_meets_the_targets_and_is_no_more_than_the_full_one(
    served: Disaggregated | Aggregated, of: Requests, ttft: float, itl: float
) -> None:
    targets = Targets(ttft_p95_seconds=ttft, itl_seconds=itl)
    most, full = most_rate(served, of, targets), full_rate(served, of)
    assert 0 <= most <= full * ROUNDING
    assert isfinite(full)
    if most > 0:
        assert targets.are_met(served.latency(of, most))
