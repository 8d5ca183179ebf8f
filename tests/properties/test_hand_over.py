"""Properties of the hand-over's budget: finite, and moved by each fact in the direction that it must be."""

from __future__ import annotations

from dataclasses import replace
from math import isfinite
from typing import Any

from hypothesis import assume, given
from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.hand_over import sustained, transfer_time
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.hand_over_size import HandOverSize, hand_over_size
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.transfer_paths import FALL_BACKS, pair_gbps, planned_path
from support.specs import spec_with
from support.strategies_runs import examples

CATALOG = load_catalog()
INSTANCES = st.sampled_from(sorted(CATALOG.instances))
REPLICAS = st.integers(1, 1000)
TRAFFIC = st.builds(
    Traffic,
    requests_per_second=st.floats(0, 1_000_000, exclude_min=True),
    prompt_tokens=st.integers(1, 100_000_000),
)


@st.composite
def deployments(draw: st.DrawFn) -> Facts:
    """Return what is known of a pair of phases, whether or not the plan would be refused."""
    changes: dict[str, Any] = {
        "model": {
            "source": draw(st.sampled_from(sorted(CATALOG.models))),
            "kv_cache_dtype": draw(st.sampled_from(["auto", "fp8"])),
        },
        "nodes": {"placement_group": draw(st.sampled_from(["cluster", "none"]))},
    }
    for phase in ("prefill", "decode"):
        instance = draw(INSTANCES)
        gpus = CATALOG.instances[instance].gpu.count
        changes[phase] = {
            "instance_type": instance,
            "replicas": draw(REPLICAS),
            "tensor_parallel": draw(st.sampled_from([size for size in (1, 2, 4, 8) if size <= gpus])),
        }
    return gather(spec_with(changes), CATALOG)


def budget(facts: Facts, traffic: Traffic) -> SustainedPlan:
    found = sustained(facts, traffic)
    assert found is not None
    return found


def alone(facts: Facts, traffic: Traffic) -> float:
    path, size = planned_path(facts), hand_over_size(facts, traffic.prompt_tokens)
    assert path is not None
    assert size is not None
    return transfer_time(size, path, pair_gbps(facts, path)).alone


@examples(200)
@given(deployments(), TRAFFIC)
def test_every_number_is_finite_and_none_is_negative(facts: Facts, traffic: Traffic) -> None:
    found = budget(facts, traffic)
    numbers = [value for value in found.model_dump().values() if value is not None]
    assert all(isfinite(number) and number >= 0 for number in numbers)
    assert found.prefill_gbps < found.prefill_limit_gbps
    assert found.decode_gbps < found.decode_limit_gbps
    is_overloaded = found.utilization >= 1 or (found.posting_share or 0) >= 1
    assert (found.added_ttft_seconds is None) == is_overloaded == found.added_ttft.startswith("time without end")
    for path in CATALOG.transfer_paths.values():
        assert pair_gbps(facts, path) > 0
    if found.added_ttft_seconds is not None:
        assert found.added_ttft_seconds >= alone(facts, traffic) > 0


@examples(200)
@given(st.integers(0, 10**15), st.integers(0, 10**8), st.floats(1e-3, 1e5), st.floats(1, 1e3))
def test_a_quicker_link_never_takes_longer(size: int, descriptors: int, gbps: float, factor: float) -> None:
    for path in CATALOG.transfer_paths.values():
        slow, quick = (
            transfer_time(HandOverSize(size, descriptors), path, rate).alone for rate in (gbps, gbps * factor)
        )
        assert quick <= slow


@examples(100)
@given(deployments(), st.sampled_from(["prefill", "decode"]), st.integers(1, 10))
def test_an_instance_with_more_bandwidth_never_takes_longer(facts: Facts, phase: str, factor: int) -> None:
    end = facts.prefill if phase == "prefill" else facts.decode
    assert end.instance is not None
    efa = end.instance.efa.model_copy(update={"bandwidth_gbps": end.instance.efa.bandwidth_gbps * factor})
    quicker = replace(end, instance=end.instance.model_copy(update={"efa": efa}))
    other = replace(facts, prefill=quicker) if phase == "prefill" else replace(facts, decode=quicker)
    traffic = Traffic(requests_per_second=1.0, prompt_tokens=1000)
    assert alone(other, traffic) <= alone(facts, traffic)
    assert budget(other, traffic).utilization <= budget(facts, traffic).utilization


@examples(100)
@given(deployments(), TRAFFIC, st.floats(1, 1000))
def test_more_requests_never_leave_more_of_the_link(facts: Facts, traffic: Traffic, factor: float) -> None:
    rate = traffic.requests_per_second * factor
    assume(rate <= 1_000_000)
    more = traffic.model_copy(update={"requests_per_second": rate})
    less, busier = budget(facts, traffic), budget(facts, more)
    assert busier.utilization >= less.utilization
    assert busier.most_requests_per_second == less.most_requests_per_second


@examples(100)
@given(deployments(), TRAFFIC, st.integers(1, 1_000_000))
def test_longer_prompts_are_never_fewer_bytes(facts: Facts, traffic: Traffic, more: int) -> None:
    short, long = (hand_over_size(facts, tokens) for tokens in (traffic.prompt_tokens, traffic.prompt_tokens + more))
    assert short is not None
    assert long is not None
    assert long.bytes >= short.bytes
    assert (long.descriptors or 0) >= (short.descriptors or 0)


@examples(100)
@given(deployments())
def test_tcp_is_never_quicker_than_the_planned_way(facts: Facts) -> None:
    planned = planned_path(facts)
    assert planned is not None
    assert all(pair_gbps(facts, CATALOG.transfer_paths[name]) <= pair_gbps(facts, planned) for name in FALL_BACKS)


@examples(100)
@given(deployments(), TRAFFIC)
def test_a_wider_prefill_never_takes_fewer_reads(facts: Facts, traffic: Traffic) -> None:
    one = facts.prefill.spec.model_copy(update={"tensor_parallel": 1})
    narrow = replace(facts, prefill=replace(facts.prefill, spec=one))
    less, more = (hand_over_size(each, traffic.prompt_tokens) for each in (narrow, facts))
    assert less is not None
    assert more is not None
    assert less.bytes == more.bytes
    assert (less.descriptors or 0) <= (more.descriptors or 0)


@examples(100)
@given(deployments(), TRAFFIC, REPLICAS)
def test_more_replicas_never_fill_the_links_more(facts: Facts, traffic: Traffic, more: int) -> None:
    for name in ("prefill", "decode"):
        end = facts.prefill if name == "prefill" else facts.decode
        larger = replace(end, spec=end.spec.model_copy(update={"replicas": end.spec.replicas + more}))
        other = replace(facts, prefill=larger) if name == "prefill" else replace(facts, decode=larger)
        assert budget(other, traffic).utilization <= budget(facts, traffic).utilization
