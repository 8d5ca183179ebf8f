"""What is missing or lost, and what was seen of it; what each field means stands in losses.yaml."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import yaml

from constructs_pd import DeploymentPlan
from support.changes import GATEWAY, NEW_CLUSTER
from support.kuberay_checks import DATA, passing
from support.specs import plan_with

Counts = dict[str, int]


@dataclass(frozen=True)
class Loss:
    """A loss."""

    loss: str
    changes: dict[str, Any]
    pending: Counts
    may_go: Counts
    rules: list[str] = field(default_factory=list)
    foreseen: str = ""
    words: str = ""
    why: str = ""
    short: Counts = field(default_factory=dict)
    devices: dict[str, Counts] = field(default_factory=dict)
    removed: Counts = field(default_factory=dict)
    made: bool = False

    def stated(self, name: str) -> dict[str, Any]:
        """Return the changes of the reference that make the deployment, on CPU nodes of its own."""
        gateway = {"endpoint.gateway": GATEWAY} if "endpoint.gateway.replicas" in self.changes else {}
        made = {**NEW_CLUSTER, **gateway} if self.made else {}
        own = {"name": name, "namespace": name, "model_cache": None, "head.node_selector": {"pool": name}}
        return {**made, **own, **self.changes}

    def planned(self, name: str) -> DeploymentPlan:
        """Return the plan, written past the rules that refuse it."""
        with passing(self.rules):
            return plan_with(self.stated(name))


LOSSES: Final = tuple(Loss(**row) for row in yaml.safe_load((DATA / "losses.yaml").read_text(encoding="utf-8")))
