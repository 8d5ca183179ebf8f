"""An upgrade by a second cluster, with and without nodes for it, as PD114 and docs/rollout.md say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

from cluster.conftest import NUMBERS, RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_of, is_bound, is_head, runs
from cluster.kubectl import NotFoundError, wait_for
from cluster.kubelet import start
from cluster.nodes import fitting_nodes, gpu_nodes, system_node
from cluster.ready import (
    READY_SECONDS,
    is_ready,
    looked_twice,
    make_secrets,
    pods_of,
    serving_cluster,
    start_head,
    start_pods,
    starting_cluster,
    wait_for_traffic,
)
from constructs_pd import DeploymentPlan, PlanError
from constructs_pd.findings import Severity
from support.kuberay_checks import passing
from support.rendered import only, whole_deployment
from support.specs import plan_with

Changes = dict[str, Any]
NEW_CLUSTER: Changes = {"upgrade": {"strategy": "new_cluster"}}
ENOUGH: Changes = {"prefill.max_nodes": 2, "decode.max_nodes": 4, "decode.replicas": 2}
SCARCE: Changes = {"prefill.max_nodes": 1, "decode.max_nodes": 2, "decode.replicas": 2}
CHANGE: Changes = {"decode.pod.environment": {"VLLM_LOGGING_LEVEL": "DEBUG"}}
ROOM = {"cpu": "40", "memory": "160Gi"}
# KubeRay's default for rayClusterDeletionDelaySeconds, and what the operator needs beside it.
DELETION_SECONDS = 60 + 40


@dataclass
class Upgrade:
    """A service that is ready, and the RayCluster that serves."""

    deployment: Deployment
    first: str

    def apply(self, changes: Changes) -> None:
        plan = self.deployment.plan
        self.deployment.control_plane.kubectl.apply(whole_deployment(_plan(plan.name, changes)))

    def second(self) -> str:
        """Return the RayCluster that the operator starts beside the first."""

        def made() -> str | None:
            names = {cluster["metadata"]["name"] for cluster in self.deployment.clusters()}
            name = starting_cluster(self.deployment)
            return name if name in names else None

        found: str = wait_for("second cluster", made)
        assert found != self.first
        return found


def _plan(name: str, changes: Changes) -> DeploymentPlan:
    """Return a plan, written past PD114, which refuses a second cluster that has no nodes."""
    with passing(["PD114"]):
        return plan_with({**changes, "model_cache": None, "name": name, "namespace": name})


def upgrade(live: ControlPlane, name: str, changes: Changes) -> Upgrade:
    """Make a service ready, with as many nodes as its node groups may have."""
    name = f"{name}-{RUN}-{next(NUMBERS)}"
    made = deployment_of(_plan(name, changes), live)
    (clusters,) = {phase.nodes.max_nodes // phase.replicas for phase in made.plan.phases}
    service = only(made.manifests, "RayService")
    made.nodes = [system_node("us-west-2a", f"{name}-system", ROOM)]
    for number in range(clusters):
        made.nodes += fitting_nodes(made.plan, service, f"-{number}")
    try:
        made.register_nodes()
        live.kubectl.apply(made.manifests)
        make_secrets(made)
        start_pods(made)
        wait_for("ready service", partial(is_ready, made), READY_SECONDS)
    except BaseException:
        made.remove()
        raise
    return Upgrade(made, serving_cluster(made))


@pytest.fixture
def spare(live: ControlPlane) -> Iterator[Upgrade]:
    yield from _upgraded(live, "spare", {**NEW_CLUSTER, **ENOUGH})


@pytest.fixture
def scarce(live: ControlPlane) -> Iterator[Upgrade]:
    yield from _upgraded(live, "scarce", {**NEW_CLUSTER, **SCARCE})


@pytest.fixture
def plain(live: ControlPlane) -> Iterator[Upgrade]:
    yield from _upgraded(live, "plain", {**ENOUGH})


def _upgraded(live: ControlPlane, name: str, changes: Changes) -> Iterator[Upgrade]:
    if live.dashboards is None:
        pytest.skip("the operator of a cluster that is not ours asks dashboards that are not there")
    made = upgrade(live, name, changes)
    try:
        yield made
    finally:
        made.deployment.remove()


def serve_endpoints(deployment: Deployment) -> set[str]:
    """Return the pods that answer at the Service of Serve."""
    selector = f"kubernetes.io/service-name={deployment.plan.name}-serve-svc"
    slices = deployment.control_plane.kubectl.list("endpointslices", deployment.namespace, selector)
    return {endpoint["targetRef"]["name"] for each in slices for endpoint in each.get("endpoints") or []}


def workers(deployment: Deployment, cluster: str) -> set[str]:
    return {pod["metadata"]["name"] for pod in pods_of(deployment, cluster) if not is_head(pod)}


def serves(deployment: Deployment, cluster: str) -> bool:
    """Return whether the service is ready, with the workers of a RayCluster behind it."""
    return is_ready(deployment) and serve_endpoints(deployment) == workers(deployment, cluster) != set()


def gone(deployment: Deployment, cluster: str) -> bool:
    try:
        deployment.control_plane.kubectl.get("raycluster", cluster, deployment.namespace)
    except NotFoundError:
        return not pods_of(deployment, cluster)
    return False


def test_the_template_has_nodes_for_two_clusters_at_most() -> None:
    plan = plan_with({**NEW_CLUSTER, **ENOUGH})
    assert [(phase.replicas, phase.nodes.max_nodes) for phase in plan.phases] == [(1, 2), (2, 4)]
    with pytest.raises(PlanError, match=r"PD114 error decode\.max_nodes: 2 nodes at most, .* needs 4") as caught:
        plan_with({**NEW_CLUSTER, **SCARCE})
    assert {each.code for each in caught.value.findings if each.severity is Severity.ERROR} == {"PD114"}


def test_with_spare_nodes_the_second_cluster_takes_over_and_the_first_goes(spare: Upgrade) -> None:
    deployment = spare.deployment
    wait_for("endpoints of the first", partial(serves, deployment, spare.first))
    spare.apply({**NEW_CLUSTER, **ENOUGH, **CHANGE})
    second = spare.second()
    wait_for("pods of both", lambda: len(pods_of(deployment, second)) == deployment.expected_pods())
    assert serves(deployment, spare.first)
    start_head(deployment, second)
    wait_for_traffic(deployment, second)
    wait_for("endpoints of the second", partial(serves, deployment, second))
    assert len({pod["spec"]["nodeName"] for pod in deployment.pods() if not is_head(pod)}) == 6
    assert not gone(deployment, spare.first)
    wait_for("end of the first", partial(gone, deployment, spare.first), DELETION_SECONDS)
    assert serves(deployment, second)


def test_without_spare_nodes_the_second_cluster_waits_and_the_first_serves(scarce: Upgrade) -> None:
    deployment, dashboards = scarce.deployment, scarce.deployment.control_plane.dashboards
    assert dashboards is not None
    wait_for("endpoints of the first", partial(serves, deployment, scarce.first))
    scarce.apply({**NEW_CLUSTER, **SCARCE, **CHANGE})
    second = scarce.second()
    dashboards.deploying.add(second)
    # The head has room beside the first's. It starts, and Serve waits there for workers.
    head = wait_for(
        "bound head", lambda: [pod for pod in pods_of(deployment, second) if is_head(pod) and is_bound(pod)]
    )
    start(deployment.control_plane.kubectl, head)
    wait_for("pods of the second", lambda: len(pods_of(deployment, second)) == deployment.expected_pods())
    wait_for("handed over application", lambda: second in {cluster for cluster, _ in dashboards.configs})
    looked_twice([deployment])
    waiting = deployment.pending_reasons()
    assert set(waiting) == workers(deployment, second)
    assert all("Insufficient nvidia.com/gpu" in reason for reason in waiting.values()), waiting
    assert serves(deployment, scarce.first)
    assert all(runs(pod) for pod in pods_of(deployment, scarce.first))
    assert (serving_cluster(deployment), starting_cluster(deployment)) == (scarce.first, second)
    # Nodes that come later end the wait.
    more = fitting_nodes(deployment.plan, only(deployment.manifests, "RayService"), "-more")
    deployment.nodes, before = more, deployment.nodes
    deployment.register_nodes()
    deployment.nodes += before
    wait_for("bound workers", lambda: not deployment.pending_reasons())
    dashboards.deploying.remove(second)
    wait_for_traffic(deployment, second)


def test_a_change_that_was_ignored_starts_a_second_cluster_as_soon_as_the_strategy_allows(plain: Upgrade) -> None:
    deployment = plain.deployment
    plain.apply({**ENOUGH, **CHANGE})
    looked_twice([deployment])
    assert starting_cluster(deployment) == ""
    plain.apply({**NEW_CLUSTER, **ENOUGH, **CHANGE})
    second = plain.second()
    cluster = deployment.control_plane.kubectl.get("raycluster", second, deployment.namespace)
    variables = cluster["spec"]["workerGroupSpecs"][1]["template"]["spec"]["containers"][0]["env"]
    assert {"name": "VLLM_LOGGING_LEVEL", "value": "DEBUG"} in variables


def test_replicas_that_are_patched_into_the_running_cluster_stay(plain: Upgrade) -> None:
    deployment, kubectl = plain.deployment, plain.deployment.control_plane.kubectl
    plain.apply({**ENOUGH, "decode.replicas": 3, "decode.max_nodes": 3})
    looked_twice([deployment])
    assert len(deployment.pods()) == 4
    sizes = [
        {"op": "replace", "path": f"/spec/workerGroupSpecs/1/{size}", "value": 3}
        for size in ("replicas", "minReplicas", "maxReplicas")
    ]
    kubectl.run("patch", "raycluster", plain.first, "-n", deployment.namespace, "--type=json", "-p", json.dumps(sizes))
    wait_for("third pod", lambda: sum(runs(pod) for pod in deployment.pods()) == 5)
    looked_twice([deployment])
    assert (serving_cluster(deployment), starting_cluster(deployment)) == (plain.first, "")
    wait_for("endpoints of all four", lambda: len(serve_endpoints(deployment)) == 4)


def test_the_nodes_of_the_template_are_those_of_one_cluster(live: ControlPlane) -> None:
    # The second cluster's nodes are started by whoever scales the node groups, up to max_nodes.
    made = deployment_of(plan_with({**NEW_CLUSTER, **ENOUGH}), live)
    assert len(gpu_nodes(made.template, made.plan.availability_zone)) == 3
