"""The control planes that the tests run in: one for each Kubernetes version that VERSIONS names."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from cluster.binaries import DEFAULT_VERSION, build, kubernetes_versions
from cluster.control_plane import ControlPlane, control_plane
from cluster.deployment import Deployment, deployment_of
from cluster.kubectl import Kubectl
from constructs_pd import DeploymentPlan
from support.specs import plan_with

# In a cluster that is not ours nothing of an earlier run is in the way.
RUN = f"{os.getpid():x}"
NUMBERS = count(1)
DISPOSABLE = os.environ.get("TEST_CLUSTER_KUBECONFIG")


def pytest_configure() -> None:
    """Have SIGTERM stop what the tests started, as Ctrl-C does."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run every test in each of the versions."""
    if "kubernetes" in metafunc.fixturenames:
        metafunc.parametrize("kubernetes", ["theirs"] if DISPOSABLE else kubernetes_versions(), scope="session")


@pytest.fixture(scope="session")
def live(kubernetes: str) -> Iterator[ControlPlane]:
    """A running control plane: our own, or the disposable cluster that TEST_CLUSTER_KUBECONFIG names."""
    if DISPOSABLE:
        kubectl = Kubectl(build(f"kubernetes-{DEFAULT_VERSION}") / "kubectl", Path(DISPOSABLE))
        yield ControlPlane(kubectl, kubernetes, None, None, None)
        return
    with control_plane(kubernetes) as own:
        yield own


Make = Callable[..., Deployment]


@pytest.fixture
def make(live: ControlPlane) -> Iterator[Make]:
    """Returns deployments of the changed reference, and removes them and their nodes afterwards."""
    made: list[Deployment] = []
    live.kubectl.warnings.clear()

    def deployment(changes: dict[str, Any] | None = None, planned: DeploymentPlan | None = None) -> Deployment:
        name = f"case-{RUN}-{next(NUMBERS)}"
        plan = planned or plan_with({**(changes or {}), "name": name, "namespace": name})
        made.append(deployment_of(plan, live))
        return made[-1]

    yield deployment
    for each in reversed(made):
        each.remove()
