"""Which zones of the deployment's region offer a phase's instance type."""

from __future__ import annotations

from dataclasses import dataclass

from constructs_pd.planning.facts import Facts, PhaseFacts


@dataclass(frozen=True, slots=True)
class Offering:
    """Zones by id: those that offer the type, and all that are known of the region; empty where nobody says."""

    zones: frozenset[str]
    known_zones: frozenset[str]


def offering(facts: Facts, phase: PhaseFacts) -> Offering | None:
    """Return which zones offer the type, or none where the user knows better: of a row or a reservation of theirs."""
    name = phase.spec.instance_type
    if phase.spec.reservation is not None:
        return None
    if phase.instance is None or phase.instance != facts.built_in.instances.get(name):
        return None
    zones = facts.offerings.zones if facts.offerings else {}
    return Offering(frozenset(zone for zone, types in zones.items() if name in types), frozenset(zones))
