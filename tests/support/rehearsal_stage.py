"""Ray nodes of a rehearsal with the mock engine, on which configurations are deployed one after the other."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

from constructs_pd import DeploymentPlan
from constructs_pd.rehearsal.deploy import deploy
from constructs_pd.rehearsal.engines import engine
from constructs_pd.rehearsal.local_ray import LocalRay, start_ray
from constructs_pd.rehearsal.look import Found, looked_at
from constructs_pd.rehearsal.nodes import planned_nodes
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.rehearse import local_document
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised

MOCK: Final = Options(engine="mock")


@dataclass
class Stage:
    """A plan's Ray nodes, and its Serve configuration for this machine."""

    plan: DeploymentPlan
    ray: LocalRay
    document: dict[str, Any]
    supervised: Supervised

    @property
    def port(self) -> int:
        """Where Serve listens."""
        port: int = self.document["http_options"]["port"]
        return port

    def look(self, document: dict[str, Any], options: Options = MOCK) -> Found:
        """Deploy a configuration and look at it as a rehearsal does."""
        return looked_at(self.plan, document, self.ray, options, Steps(lambda text: None), self.supervised)

    def deploy(self) -> None:
        """Deploy the plan's own configuration."""
        deploy(self.ray.dashboard, self.document, MOCK.timeout_seconds, lambda text: None)


@contextmanager
def stage_of(planned: DeploymentPlan) -> Iterator[Stage]:
    """Start a plan's Ray nodes, and end them."""
    mock = engine("mock", planned.versions.vllm)
    with Supervised() as supervised:
        document = local_document(planned, MOCK, mock, supervised, Steps(lambda text: None))
        ray = start_ray(planned_nodes(planned), mock.python, mock.environment, supervised, lambda text: None)
        yield Stage(planned, ray, document, supervised)
