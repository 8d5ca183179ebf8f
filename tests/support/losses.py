"""What is missing or lost, and what was seen of it; what each field means stands in losses.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.planning.spec_pods import Phase
from support.changes import GATEWAY, NEW_CLUSTER, PHASES
from support.kuberay_checks import DATA, passing
from support.specs import plan_with, spec_with

Counts = dict[str, int]
# One in each of two zones, as a new cluster's template makes them too.
CPU_NODES = 2


@dataclass(frozen=True)
class Loss:
    """A loss."""

    loss: str
    changes: dict[str, Any]
    predicted: Counts
    pending: Counts
    may_go: Counts
    rules: list[str] = field(default_factory=list)
    foreseen: str = ""
    words: str = ""
    why: str = ""
    instead: Counts | None = None
    devices: dict[str, Counts] = field(default_factory=dict)
    removed: Counts = field(default_factory=dict)
    made: bool = False

    def stated(self, name: str) -> dict[str, Any]:
        """Return the changes of the reference that make the deployment, on CPU nodes of its own."""
        gateway = {"endpoint.gateway": GATEWAY} if "endpoint.gateway.replicas" in self.changes else {}
        made = {**NEW_CLUSTER, **gateway} if self.made else {}
        own = {"name": name, "namespace": name, "model_cache": None, "head.node_selector": {"pool": name}}
        return {**made, **own, **self.changes}

    def nodes_that_start(self, phase: str) -> int:
        """Return how many nodes of a phase start: one for each replica, unless its group or reservation has fewer.

        Raises:
            NotImplementedError: Both phases are in one reservation, of which it is not known who gets what.
        """
        spec = spec_with(self.stated("lost"))
        stated: Phase = getattr(spec, phase)
        reserved = stated.reservation
        ids = [each.reservation.id for each in (spec.prefill, spec.decode) if each.reservation]
        if len(ids) != len(set(ids)):
            raise NotImplementedError
        if reserved and reserved.availability_zone != spec.availability_zone:
            return 0
        return min(stated.replicas, stated.most_nodes, reserved.instance_count if reserved else stated.replicas)

    def reckoned(self) -> Counts:
        """Return how many pods of each role have no node, as the specification and the rules have it."""
        spec = spec_with(self.stated("lost"))
        waiting = {"head": 1 if {"PD146", "PD221"} & {*self.rules} or self.removed.get("system") == CPU_NODES else 0}
        for phase in PHASES:
            started = self.nodes_that_start(phase)
            lost = started if "zone" in self.removed else self.removed.get(phase, 0) + (phase in self.devices)
            waiting[phase] = getattr(spec, phase).replicas - started + lost
        return {role: count for role, count in waiting.items() if count}

    def may_wait(self) -> list[Counts]:
        """Return what may wait: where pods race for what room is left, either."""
        return [self.pending, *([self.instead] if self.instead else [])]

    def planned(self, name: str) -> DeploymentPlan:
        """Return the plan, written past the rules that refuse it."""
        with passing(self.rules):
            return plan_with(self.stated(name))


LOSSES: Final = tuple(Loss(**row) for row in yaml.safe_load((DATA / "losses.yaml").read_text(encoding="utf-8")))
