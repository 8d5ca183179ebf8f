"""The gateway's pods: where they stand, what they wait for, and how many may go at once."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from cluster import routes
from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_as_written
from cluster.kubectl import Object, RefusedError, wait_for
from cluster.kubelet import is_ready, missing, start
from cluster.nodes import decoys, system_node
from constructs_pd.planning.gateway_plan import GatewayPlan
from support.changes import GATEWAY
from support.rendered import as_written
from support.specs import plan_with

REPLICAS = 3
CHANGES: dict[str, Any] = {
    "name": f"gateway-{RUN}",
    "namespace": f"gateway-{RUN}",
    "model_cache": None,
    "endpoint.exposure": "cluster",
    "endpoint.gateway": {**GATEWAY, "replicas": REPLICAS},
}


@pytest.fixture
def deployment(live: ControlPlane) -> Iterator[Deployment]:
    """A deployment with a gateway, two CPU nodes for it in two zones, and two that nothing of it may take."""
    if live.dashboards is None:
        pytest.skip("KWOK of a cluster that is not ours starts the gateway's pods at once")
    made = deployment_as_written(plan_with(CHANGES), live)
    made.nodes = [system_node(f"us-west-2{zone}", f"{made.plan.name}-{zone}") for zone in "ab"]
    made.nodes += decoys(made.nodes)
    try:
        made.register_nodes()
        live.kubectl.apply(made.manifests)
        yield made
    finally:
        made.remove()


def gateway_of(deployment: Deployment) -> GatewayPlan:
    gateway = deployment.plan.endpoint.gateway
    assert gateway is not None
    return gateway


def bound(deployment: Deployment) -> list[Object]:
    """Return the gateway's pods once there are as many as planned, each with a node."""

    def all_bound() -> list[Object] | None:
        pods = deployment.gateway_pods()
        return pods if [*map(has_node, pods)] == [True] * REPLICAS else None

    found: list[Object] = wait_for("bound pods of the gateway", all_bound)
    return found


def has_node(pod: Object) -> bool:
    return "nodeName" in pod["spec"]


def on_nodes(pods: list[Object]) -> dict[str, int]:
    return dict(Counter(pod["spec"]["nodeName"] for pod in pods))


def budget(deployment: Deployment) -> tuple[int, int, int]:
    """Return the pods that the budget counts, those that are well, and how many may go."""
    gateway = gateway_of(deployment)
    found = deployment.control_plane.kubectl.get("poddisruptionbudget", gateway.name, gateway.namespace)
    status = found.get("status", {})
    return status.get("expectedPods"), status.get("currentHealthy"), status.get("disruptionsAllowed")


def evict(deployment: Deployment, pod: Object) -> str:
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    wanted = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name}}
    path = f"/api/v1/namespaces/{namespace}/pods/{name}/eviction"
    return deployment.control_plane.kubectl.run("create", "--raw", path, "-f", "-", given=json.dumps(wanted))


def make_keys(deployment: Deployment, key: str) -> None:
    gateway = gateway_of(deployment)
    metadata = {"name": gateway.api_keys.secret_name, "namespace": gateway.namespace}
    keys = {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": {key: "planted"}}
    deployment.control_plane.kubectl.apply([keys])


def test_its_pods_wait_for_the_keys_and_go_one_at_a_time(live: ControlPlane, deployment: Deployment) -> None:
    gateway, kubectl = gateway_of(deployment), live.kubectl
    pods = bound(deployment)
    nodes = {f"{deployment.plan.name}-{zone}" for zone in "ab"}
    assert sorted(on_nodes(pods).values()) == [1, 2]
    assert on_nodes(pods).keys() == nodes
    # Without the Secret, and with one that lacks the key, none starts.
    assert [missing(kubectl, pod) for pod in pods] == [["secret api-keys"]] * REPLICAS
    make_keys(deployment, "typo")
    assert [missing(kubectl, pod) for pod in pods] == [["secret api-keys: keys"]] * REPLICAS
    wait_for("counted budget", lambda: budget(deployment) == (REPLICAS, 0, 0))
    assert routes.of_name(kubectl, deployment.namespace, deployment.plan.name).pods == frozenset()
    make_keys(deployment, gateway.api_keys.key)
    start(kubectl, pods)
    wait_for("available pods", lambda: available(deployment) == REPLICAS)
    wait_for("counted budget", lambda: budget(deployment) == (REPLICAS, REPLICAS, 1))

    # One may go. Until another is ready in its place, which comes to the node that is emptier, no second.
    assert "Success" in evict(deployment, pods[0])
    with pytest.raises(RefusedError, match="violate the pod's disruption budget"):
        evict(deployment, pods[1])
    replaced = bound(deployment)
    assert sorted(on_nodes(replaced).values()) == [1, 2]
    behind = {pod["metadata"]["name"] for pod in replaced if is_ready(pod)}
    assert len(behind) == REPLICAS - 1
    wait_for("two pods behind the name", lambda: pods_behind(deployment) == behind)
    start(kubectl, [pod for pod in replaced if not is_ready(pod)])

    # An update: another configuration takes one pod away, and never makes one more.
    wait_for("counted budget", lambda: budget(deployment) == (REPLICAS, REPLICAS, 1))
    kubectl.apply(as_written(plan_with({**CHANGES, "endpoint.gateway.max_body_bytes": 1024})))
    wait_for("updated pod", lambda: len(templates(bound(deployment))) == 2)
    updated = bound(deployment)
    assert sum(is_ready(pod) for pod in updated) == REPLICAS - 1
    assert sorted(templates(updated).values()) == [1, REPLICAS - 1]


def available(deployment: Deployment) -> int:
    gateway = gateway_of(deployment)
    found = deployment.control_plane.kubectl.get("deployment", gateway.name, gateway.namespace)
    count: int = found.get("status", {}).get("availableReplicas", 0)
    return count


def pods_behind(deployment: Deployment) -> frozenset[str]:
    kubectl = deployment.control_plane.kubectl
    return routes.of_name(kubectl, deployment.namespace, deployment.plan.name).pods


def templates(pods: list[Object]) -> dict[str, int]:
    """Return how many pods there are of each template of the Deployment."""
    return dict(Counter(pod["metadata"]["labels"]["pod-template-hash"] for pod in pods))
