"""PD226: the links carry the KV caches of the stated traffic."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.rules import hand_over_terms
from constructs_pd.planning.rules.hand_over_remedies import larger_links, more_replicas
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_traffic import Traffic

_HALVED_BY_FP8: Final = ("auto", "bfloat16")
_FP8_CAPABILITY: Final = (8, 9)


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
    changes = [*more_replicas(facts, found), *larger_links(facts, traffic), *_smaller_cache(facts, traffic)]
    return ", or ".join([*changes, "state less traffic"])


def _smaller_cache(facts: Facts, traffic: Traffic) -> list[str]:
    """Return fp8 for the KV cache where its GPUs have it and that is enough."""
    ends = [phase.instance for phase in facts.phases]
    if facts.spec.model.kv_cache_dtype not in _HALVED_BY_FP8 or any(
        end is None or capability(end.gpu.compute_capability) < _FP8_CAPABILITY for end in ends
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
