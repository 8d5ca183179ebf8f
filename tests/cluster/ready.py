"""What a deployment waits for beside its nodes until it is ready: a user's Secrets, and pods that a test starts."""

from __future__ import annotations

import re
import time

from cluster.deployment import Deployment, is_bound, is_head
from cluster.kubectl import Object, wait_for
from cluster.kubelet import start

READY_SECONDS = 120
# The operator looks at a RayService when it changes, and again every 2 seconds.
SETTLED_SECONDS = 12
RECONCILED = r'"RayService":\{"name":"([^"]+)"[^}]*\},"reconcileID":"([^"]+)"'


def make_secrets(deployment: Deployment) -> None:
    """Make what a user makes by hand."""
    token = deployment.plan.hugging_face_token
    assert token is not None
    secrets = [_secret(deployment.namespace, token.secret_name, {token.key: "planted"})]
    if gateway := deployment.plan.endpoint.gateway:
        keys = gateway.api_keys
        secrets.append(_secret(gateway.namespace, keys.secret_name, {keys.key: "planted"}))
    deployment.control_plane.kubectl.apply(secrets)


def _secret(namespace: str, name: str, data: dict[str, str]) -> Object:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "stringData": data}


def start_pods(deployment: Deployment) -> None:
    """Start the head and the gateway's pods, once all pods have their nodes."""
    heads = [pod for pod in deployment.wait_for_pods() if is_head(pod)]
    gateway = deployment.plan.endpoint.gateway
    replicas = gateway.replicas if gateway else 0

    def gateways() -> list[Object] | None:
        pods = deployment.gateway_pods() if gateway else []
        return pods if sum("nodeName" in pod["spec"] for pod in pods) == replicas else None

    start(deployment.control_plane.kubectl, heads + (wait_for("gateway pods", gateways) if gateway else []))


def is_ready(deployment: Deployment) -> bool:
    """Return whether the operator says that the service is ready, and Kubernetes that the gateway is available."""
    kubectl, gateway = deployment.control_plane.kubectl, deployment.plan.endpoint.gateway
    service = kubectl.get("rayservice", deployment.plan.name, deployment.namespace)
    conditions = {each["type"]: each["status"] for each in service.get("status", {}).get("conditions", [])}
    found = kubectl.get("deployment", gateway.name, gateway.namespace) if gateway else {}
    available = found.get("status", {}).get("availableReplicas") == gateway.replicas if gateway else True
    return conditions.get("Ready") == "True" and available


def pods_of(deployment: Deployment, cluster: str) -> list[Object]:
    """Return the pods of one RayCluster."""
    return [pod for pod in deployment.pods() if pod["metadata"]["labels"]["ray.io/cluster"] == cluster]


def start_head(deployment: Deployment, cluster: str) -> None:
    """Start the head of a RayCluster once all of its pods have a node."""

    def bound() -> list[Object] | None:
        pods = pods_of(deployment, cluster)
        return pods if len(pods) == deployment.expected_pods() and all(map(is_bound, pods)) else None

    pods = wait_for(f"bound pods of {cluster}", bound)
    start(deployment.control_plane.kubectl, [pod for pod in pods if is_head(pod)])


def wait_for_traffic(deployment: Deployment, cluster: str) -> None:
    """Wait until the operator has moved the traffic to a RayCluster."""
    wait_for("moved traffic", lambda: serving_cluster(deployment) == cluster, READY_SECONDS)


def serving_cluster(deployment: Deployment) -> str:
    """Return the RayCluster that the operator holds for the one that serves, or nothing before there is one."""
    return _status(deployment, "activeServiceStatus")


def starting_cluster(deployment: Deployment) -> str:
    """Return the RayCluster that the operator holds for the next one, or nothing where there is none."""
    return _status(deployment, "pendingServiceStatus")


def _status(deployment: Deployment, part: str) -> str:
    service = deployment.control_plane.kubectl.get("rayservice", deployment.plan.name, deployment.namespace)
    name: str = service.get("status", {}).get(part, {}).get("rayClusterName", "")
    return name


def looked_twice(deployments: list[Deployment]) -> None:
    """Wait until the operator has looked at each service twice since now, by its log where that is ours."""
    log = deployments[0].control_plane.operator_log
    if log is None:
        time.sleep(SETTLED_SECONDS)
        return
    start = log.stat().st_size

    def looked() -> bool:
        since = log.read_bytes()[start:].decode(errors="replace")
        found = {(name, run) for name, run in re.findall(RECONCILED, since)}
        return all(sum(name == each.plan.name for name, _ in found) >= 2 for each in deployments)

    wait_for("second look of the operator", looked)
