"""The engines and the hand-over of a specification, as far as everything that they depend on is known."""

from __future__ import annotations

from collections.abc import Iterator
from math import floor

from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import Fit, fit_on
from constructs_pd.planning.hand_over import transfer_time
from constructs_pd.planning.hand_over_size import HandOverSize, hand_over_size
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.hand_over_growth import Handed
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import work_of
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.transfer_paths import engine_gbps, pair_gbps, planned_path

_BITS = 8
_GIGA = 1e9


def unknown_speed(facts: Facts) -> str | None:
    """Return what is missing for a prediction, in words; none where everything is known."""
    if facts.model is None or facts.model.facts is None:
        return f"the config.json of {facts.spec.model.source}"
    for phase in facts.phases:
        if phase.instance is None:
            return f"the instance type {phase.spec.instance_type}"
        if facts.catalog.speed_of(phase.instance.gpu) is None:
            return f"the speed of the GPU {phase.instance.gpu.name}"
        if phase.tensor_parallel is None or fit_on(facts, phase, phase.instance, phase.tensor_parallel) is None:
            return f"the memory of {phase.name}'s GPUs (PD225)"
    if facts.image is None or facts.image.vllm_version not in facts.catalog.engine_speed:
        return "the speed of the image's vLLM"
    return None


def requests_of(traffic: Traffic, context_tokens: int | None = None) -> Requests | None:
    """Return the requests that are stated, cut at a context; none where the length of their answers is not."""
    if traffic.output_tokens is None:
        return None
    cached = traffic.prompt_tokens * traffic.cached_prompt_fraction
    computed = max(1.0, traffic.prompt_tokens - cached)  # the last token is computed in any case
    cached = traffic.prompt_tokens - computed
    return Requests(computed, cached, traffic.output_tokens, traffic.prompt_variation).within(context_tokens)


def engine_on(
    facts: Facts, phase: PhaseFacts, instance: InstanceRow, tensor_parallel: int, requests: Requests
) -> Engine | None:
    """Return an engine of a phase on so many GPUs of an instance type; none where a fact is missing or nothing fits."""
    found = fit_on(facts, phase, instance, tensor_parallel)
    return engine_of(facts, found, instance, requests) if found is not None else None


def engine_of(facts: Facts, found: Fit, instance: InstanceRow, requests: Requests) -> Engine | None:
    """Return the engine of a model that fits GPUs of an instance type so; none where a fact is missing."""
    model, tensor_parallel = facts.model, found.shape.tensor_parallel
    speed = facts.catalog.speed_of(instance.gpu)
    if model is None or model.facts is None or speed is None or facts.image is None:
        return None
    row, stated = facts.catalog.engine_speed.get(facts.image.vllm_version), facts.spec.model
    room = floor(found.layout.requests(found.budget.kv_cache, max(1, round(requests.longest_tokens))))
    if row is None or room < 1:
        return None
    return Engine(
        work=work_of(
            model.facts,
            tensor_parallel,
            instance.gpu.compute_capability,
            dtype=stated.dtype,
            kv_cache_dtype=stated.kv_cache_dtype,
        ),
        gpu=speed,
        speed=row,
        tensor_parallel=tensor_parallel,
        step_tokens=found.shape.max_num_batched_tokens,
        sequences=min(found.shape.max_num_seqs, room),
        is_eager=found.shape.is_eager,
    )


def hand_over_of(facts: Facts, requests: Requests) -> HandOver | None:
    """Return what the hand-over of a mean prompt takes, and of others; none where a fact is missing."""
    size, path = _handed_size(facts, requests, 1.0), planned_path(facts)
    if size is None or path is None:
        return None
    time = transfer_time(size, path, pair_gbps(facts, path))
    prefill, decode = (size.bytes * _BITS / (engine_gbps(facts, phase, path) * _GIGA) for phase in facts.phases)
    return HandOver(time.fixed, time.posting, time.wire, prefill, decode, tuple(_handed(facts, requests, size)))


def _handed(facts: Facts, requests: Requests, mean: HandOverSize) -> Iterator[Handed]:
    """Yield what prompts hand over of each length that is reckoned with, the shortest first."""
    factors = {each.factor for each in requests.lengths} | {requests.quantile(share) for share in (0.5, 0.95)}
    for factor in sorted(factors):
        size = _handed_size(facts, requests, factor)
        if size is not None:
            yield Handed(factor, (size.descriptors or 0) / (mean.descriptors or 1), size.bytes / (mean.bytes or 1))


def _handed_size(facts: Facts, requests: Requests, factor: float) -> HandOverSize | None:
    return hand_over_size(facts, max(1, round(factor * (requests.prompt_tokens + requests.cached_tokens))))


def disaggregated_of(facts: Facts, requests: Requests) -> Disaggregated | None:
    """Return the two phases of a specification; none where a fact is missing or nothing fits."""
    engines = [
        engine_on(facts, phase, phase.instance, phase.tensor_parallel, requests)
        for phase in facts.phases
        if phase.instance is not None and phase.tensor_parallel is not None
    ]
    hand_over = hand_over_of(facts, requests)
    if len(engines) < len(facts.phases) or hand_over is None:
        return None
    prefill, decode = engines
    if prefill is None or decode is None:
        return None
    return Disaggregated(prefill, decode, facts.prefill.spec.replicas, facts.decode.spec.replicas, hand_over)
