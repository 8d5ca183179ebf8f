"""What relieves the links of the KV hand-over."""

from __future__ import annotations

from dataclasses import replace
from math import ceil
from typing import Final

from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import fit_on
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.spec_traffic import Traffic

# Where transfers share the link, one takes 1 / (1 - 0.7) = 3.3 times as long as alone, and a burst much longer.
BUSY: Final = 0.7
MOST_REPLICAS: Final = 1000


def more_replicas(facts: Facts, found: SustainedPlan) -> list[str]:
    """Return the replicas with which the links are not busy, of each phase whose links are."""
    raised = {}
    for phase, gbps in zip(facts.phases, (found.prefill_gbps, found.decode_gbps), strict=True):
        needed = ceil(found.demand_gbps / BUSY / (gbps / phase.spec.replicas))
        if needed > phase.spec.replicas:
            raised[phase.name] = needed
    if not raised or max(raised.values()) > MOST_REPLICAS:
        return []
    return ["raise " + " and ".join(f"{name}.replicas to {needed}" for name, needed in raised.items())]


def larger_links(facts: Facts, traffic: Traffic) -> list[str]:
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
