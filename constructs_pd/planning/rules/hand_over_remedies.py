"""What relieves the links of the KV hand-over."""

from __future__ import annotations

from math import ceil
from typing import Final

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.hand_over_plan import SustainedPlan
from constructs_pd.planning.rules.changed import errors, holds, on_nodes, size_text
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
    most = {phase.name: phase.spec.max_nodes for phase in facts.phases}
    parts = [
        f"{name}.replicas{' and max_nodes' if (most[name] or needed) < needed else ''} to {needed}"
        for name, needed in raised.items()
    ]
    return ["raise " + " and ".join(parts)]


def larger_links(facts: Facts, traffic: Traffic) -> list[str]:
    """Return the instance type with the slowest network that carries it, an engine on each whole node."""
    present = errors(facts)
    for row in sorted(facts.catalog.instances.values(), key=lambda row: (row.efa.bandwidth_gbps, row.instance_type)):
        changed = on_nodes(facts, facts.phases, row)
        if not holds(changed, [phase.name for phase in facts.phases]):
            continue
        found = sustained(changed, traffic)
        if found is not None and found.utilization <= BUSY and errors(changed) <= present:
            return [f"choose {row.instance_type}{size_text(facts.phases, row.gpu.count)} for both phases"]
    return []
