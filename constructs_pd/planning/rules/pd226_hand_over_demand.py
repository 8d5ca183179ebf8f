"""PD226: the links carry the KV caches of the stated traffic."""

from collections.abc import Iterator
from dataclasses import replace
from math import ceil
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import fit_on
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.rules import hand_over_terms
from constructs_pd.planning.rules.pd227_hand_over_time import BUSY
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_traffic import Traffic

MOST_REPLICAS: Final = 1000
_HALVED_BY_FP8: Final = ("auto", "bfloat16")
_FP8_CAPABILITY: Final = 8.9


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where a second's KV caches are more than nodes of a phase have ever sent or received in it."""
    traffic = facts.spec.traffic
    found = sustained(facts, traffic) if traffic else None
    if traffic is None or found is None or not found.is_beyond_limits:
        return
    limits = zip(facts.phases, (found.prefill_limit_gbps, found.decode_limit_gbps), strict=True)
    full = [
        f"{phase.spec.replicas} x {phase.spec.instance_type} of {phase.name} carry {gbps:,.1f} at most"
        for phase, gbps in limits
        if gbps < found.demand_gbps
    ]
    yield Violation(
        "traffic.requests_per_second",
        f"{found.requests_per_second:g} requests a second of {traffic.prompt_tokens:,} tokens hand over "
        f"{found.demand_gbps:,.1f} Gbit/s, {' and '.join(full)}; reckoned with are "
        f"{found.most_requests_per_second:,.1f} requests",
        _remedy(facts, traffic, found),
    )


def _remedy(facts: Facts, traffic: Traffic, found: SustainedPlan) -> str:
    changes = [*_more_replicas(facts, found), *_larger_links(facts, traffic), *_smaller_cache(facts, traffic)]
    return ", or ".join([*changes, "state less traffic"])


def _more_replicas(facts: Facts, found: SustainedPlan) -> list[str]:
    """Return the replicas with which the links are not busy, of each phase whose links are."""
    raised = {}
    for phase, gbps in zip(facts.phases, (found.prefill_gbps, found.decode_gbps), strict=True):
        needed = ceil(found.demand_gbps / BUSY / (gbps / phase.spec.replicas))
        if needed > phase.spec.replicas:
            raised[phase.name] = needed
    if not raised or max(raised.values()) > MOST_REPLICAS:
        return []
    return ["raise " + " and ".join(f"{name}.replicas to {needed}" for name, needed in raised.items())]


def _larger_links(facts: Facts, traffic: Traffic) -> list[str]:
    """Return the instance type with the slowest network that carries it, on which the engines fit as they are."""
    for row in sorted(facts.catalog.instances.values(), key=lambda row: (row.efa.bandwidth_gbps, row.instance_type)):
        other = replace(facts, prefill=_on(facts.prefill, row), decode=_on(facts.decode, row))
        if not all(_fits(facts, phase, row) for phase in facts.phases):
            continue
        found = sustained(other, traffic)
        if found is not None and found.utilization <= BUSY:
            return [f"choose {row.instance_type} for both phases"]
    return []


def _on(phase: PhaseFacts, row: InstanceRow) -> PhaseFacts:
    # An engine keeps its size; one that had a whole node keeps its number of GPUs.
    spec = phase.spec.model_copy(update={"instance_type": row.instance_type, "tensor_parallel": phase.tensor_parallel})
    return replace(phase, spec=spec, instance=row)


def _fits(facts: Facts, phase: PhaseFacts, row: InstanceRow) -> bool:
    found = fit_on(facts, phase, row, phase.tensor_parallel) if phase.tensor_parallel else None
    return found is not None and found.requests >= phase.spec.concurrent_requests


def _smaller_cache(facts: Facts, traffic: Traffic) -> list[str]:
    """Return fp8 for the KV cache where its GPUs have it and that is enough."""
    ends = [phase.instance for phase in facts.phases]
    if facts.spec.model.kv_cache_dtype not in _HALVED_BY_FP8 or any(
        end is None or float(end.gpu.compute_capability) < _FP8_CAPABILITY for end in ends
    ):
        return []
    model = facts.spec.model.model_copy(update={"kv_cache_dtype": "fp8"})
    found = sustained(replace(facts, spec=facts.spec.model_copy(update={"model": model})), traffic)
    return ["set model.kv_cache_dtype to fp8"] if found is not None and not found.is_beyond_limits else []


RULE = Rule(
    code="PD226",
    severity=Severity.ERROR,
    title="The links carry the KV caches of the stated traffic",
    rationale="Requests wait for their KV cache longer and longer, and prefill keeps their blocks meanwhile.",
    source="docs/hand_over.md; the catalogue, transfer_paths.yaml",
    check=check,
    arithmetic=hand_over_terms.ARITHMETIC,
    worked=hand_over_terms.worked,
)
