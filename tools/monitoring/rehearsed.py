"""A rehearsal that goes on while somebody looks at it: the plan's application, its metrics, and requests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.rehearsal.context import context_tokens
from constructs_pd.rehearsal.deploy import deploy
from constructs_pd.rehearsal.engines import EngineName, engine
from constructs_pd.rehearsal.exchange import exchange
from constructs_pd.rehearsal.load import Load
from constructs_pd.rehearsal.local_ray import LocalRay, start_ray
from constructs_pd.rehearsal.machine import needed_gib, require_linux, require_memory
from constructs_pd.rehearsal.nodes import NODE_ADDRESS, planned_nodes
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.rehearse import ended_nodes_named, local_document
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised
from tools.monitoring.scrape import Target


@dataclass(frozen=True)
class Rehearsed:
    """A plan's application that runs on this machine.

    Attributes:
        plan: The plan.
        ray: Its nodes.
        port: Where it listens.
    """

    plan: DeploymentPlan
    ray: LocalRay
    port: int

    def targets(self) -> list[Target]:
        """Return its pods as Prometheus would find them."""
        labels: dict[str, dict[str, str]] = {phase.name: phase.pod_labels for phase in self.plan.phases}
        labels["head"] = self.plan.head.pod_labels
        return [
            Target(
                address=f"{NODE_ADDRESS}:{node.metrics_port}",
                pod=f"{self.plan.name}-{node.planned.name}",
                namespace=self.plan.namespace,
                labels=labels[node.planned.group],
            )
            for node in self.ray.nodes.values()
        ]

    def pages(self, seconds: float, interval: float) -> dict[str, str]:
        """Return all that each kind of node exports over a time: gauges come and go.

        Args:
            seconds: The time.
            interval: Between two looks, in seconds.
        """
        found: dict[str, str] = {}
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            time.sleep(min(interval, max(0.0, deadline - time.monotonic())))
            for node in self.ray.nodes.values():
                status, page = exchange(node.metrics_port, "GET", "/metrics")
                if status == 200:
                    found[node.planned.group] = found.get(node.planned.group, "") + page
        return found

    def load(self) -> Load:
        """Return requests at even distances."""
        return Load(self.port, self.plan.model.served_name, 0, context_tokens(self.plan))


@contextmanager
def rehearsed(
    plan: DeploymentPlan, name: EngineName, tell: Callable[[str], None], *, report_milliseconds: int = 10_000
) -> Iterator[Rehearsed]:
    """Run a plan's application until the context is left; then every process has ended.

    Args:
        plan: The plan.
        name: `vllm`, the real engine, or `mock`.
        tell: Where progress goes.
        report_milliseconds: How often Ray exports metrics, by default as in a cluster. It forgets a gauge that was not
            set for twice as long.

    Raises:
        RehearsalError: It cannot start or go on.
    """
    require_linux()
    options, chosen, nodes = Options(name), engine(name, plan.versions.vllm), planned_nodes(plan)
    require_memory(needed_gib(nodes, name, max(phase.tensor_parallel for phase in plan.phases)))
    environment = {**chosen.environment, "RAY_metrics_report_interval_ms": str(report_milliseconds)}
    with Supervised() as supervised:
        document = local_document(plan, options, chosen, supervised, Steps(tell))
        ray = start_ray(nodes, chosen.python, environment, supervised, tell)
        with ended_nodes_named(ray, supervised):
            deploy(ray.dashboard, document, options.timeout_seconds, tell)
            yield Rehearsed(plan, ray, document["http_options"]["port"])
