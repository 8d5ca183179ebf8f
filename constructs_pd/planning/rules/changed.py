"""A specification with a change that a remedy names, and whether it would plan.

A remedy that another rule refuses helps nobody, so the rules that name instance types or sizes ask here first.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts, gather
from constructs_pd.planning.fit import settled
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.spec_pods import Phase

# They ask here themselves; what they check is asked of the fit and of the links directly.
ASKING: Final = ("PD203", "PD226")


def with_phases(facts: Facts, changes: Mapping[str, Mapping[str, Any]]) -> Facts:
    """Return the facts of a specification whose phases have other values in some fields."""
    changed: dict[str, Phase] = {
        phase.name: phase.spec.model_copy(update=dict(changes.get(phase.name, {}))) for phase in facts.phases
    }
    return gather(facts.spec.model_copy(update=changed), facts.built_in)


def on_nodes(facts: Facts, phases: Iterable[PhaseFacts], row: InstanceRow) -> Facts:
    """Return the facts with phases on another instance type, an engine on each whole node."""
    change = {"instance_type": row.instance_type, "tensor_parallel": row.gpu.count}
    return with_phases(facts, {phase.name: change for phase in phases})


def size_text(phases: Iterable[PhaseFacts], gpus: int) -> str:
    """Return what must be said of the size beside an instance type: nothing where no phase states another."""
    stated = {phase.spec.tensor_parallel for phase in phases}
    return "" if stated <= {None, gpus} else f" with tensor_parallel {gpus}"


def holds(facts: Facts, phases: Iterable[str]) -> bool:
    """Return whether phases hold their promised requests; not where nobody knows."""
    found = {phase.name: settled(facts, phase) for phase in facts.phases}
    return all(
        (fit := found[phase.name]) is not None and fit.requests >= phase.spec.concurrent_requests
        for phase in facts.phases
        if phase.name in phases
    )


def is_carried(facts: Facts) -> bool:
    """Return whether the links carry the stated traffic, or nobody knows."""
    asked = sustained(facts, facts.spec.traffic) if facts.spec.traffic else None
    return asked is None or not asked.is_beyond_limits


def errors(facts: Facts) -> set[tuple[str, str, str]]:
    """Return what the other rules refuse, word by word: a change should add nothing to it."""
    from constructs_pd.planning.rules import RULES  # which holds the rules that ask

    return {
        (finding.code, finding.subject, finding.message)
        for rule in RULES
        if rule.severity is Severity.ERROR and rule.code not in ASKING
        for finding in rule.findings(facts)
    }
