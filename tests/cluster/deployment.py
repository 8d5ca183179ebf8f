"""A deployment in the control plane: applied, and looked at."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from cluster.control_plane import ControlPlane
from cluster.kubectl import Kubectl, NotFoundError, Object, wait_for
from cluster.nodes import decoys, gpu_nodes, system_node
from constructs_pd import DeploymentPlan
from support.rendered import as_written, whole_deployment
from support.template import TemplateData, synthesized

NOT_LOOKED_AT = "the scheduler has not looked at it"
VOLUME_LABEL = "constructs-pd/test-namespace"
# What the operator says of itself: it looks for the head of a cluster before it has made it, tries again where two of
# its controllers write one object, and makes a cluster twice under one name where its cache lags on a busy machine.
# And what the API server says of itself: where its cache lags, it takes the address of a new Service for one that
# nobody has been given (Kubernetes pkg/registry/core/service/ipallocator/controller/repairip.go).
EXPECTED_ERRORS = re.compile(
    r"found 0 head|please apply your changes to the latest version and try again|"
    r'rayclusters\.ray\.io "[-a-z0-9]+" already exists|'
    r"^ClusterIPNotAllocated: .* is not allocated; repairing$"
)


@dataclass
class Deployment:
    """One deployment: its plan, what both halves wrote, and the control plane that it runs in."""

    plan: DeploymentPlan
    template: TemplateData
    manifests: list[Object]
    control_plane: ControlPlane
    nodes: list[Object] = field(default_factory=list)

    @property
    def namespace(self) -> str:
        return self.plan.namespace

    @property
    def _selector(self) -> str:
        return ",".join(f"{key}={value}" for key, value in self.plan.selector_labels.items())

    def planned_nodes(self) -> list[Object]:
        """Return a CPU node for the head, and a node for each planned instance."""
        zone = self.plan.availability_zone
        return [system_node(zone, f"{self.plan.name}-system"), *gpu_nodes(self.template, zone)]

    def register_nodes(self, tempting: bool = False) -> None:
        """Register `nodes`, by default those that are planned, and beside them such as no pod may take."""
        self.nodes = self.nodes or self.planned_nodes()
        if tempting:
            self.nodes += decoys(self.nodes)
        kubectl = self.control_plane.kubectl
        kubectl.run("create", "-f", "-", given=_list(self.nodes))
        planned = {node["metadata"]["name"]: node["spec"]["taints"] for node in self.nodes}

        def ready() -> bool:
            """Return whether the taint is gone that a node has until it is ready."""
            live = {node["metadata"]["name"]: node["spec"].get("taints", []) for node in kubectl.list("nodes")}
            return all(len(live[name]) == len(taints) for name, taints in planned.items())

        wait_for("ready nodes", ready)

    def apply(self, manifests: Iterable[Object] | None = None) -> None:
        """Apply the manifests on the server's side, with what a user has there before: a claim that is bound."""
        kubectl = self.control_plane.kubectl
        kubectl.apply(_prerequisites(self.plan))
        if self.plan.model_cache and not self.plan.model_cache_storage:
            claim = self.plan.model_cache.claim_name
            wait_for("bound claim", lambda: kubectl.get("pvc", claim, self.namespace)["status"]["phase"] == "Bound")
        kubectl.apply(self.manifests if manifests is None else manifests)

    def expected_pods(self) -> int:
        """Return how many Ray pods there must be."""
        return 1 + sum(phase.replicas for phase in self.plan.phases)

    def pods(self) -> list[Object]:
        """Return the live Ray pods, without those that are going."""
        # The pod of the conformance Job has the deployment's label too, and none of KubeRay's.
        pods = self.control_plane.kubectl.list("pods", self.namespace, f"{self._selector},ray.io/cluster")
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    @property
    def namespaces(self) -> list[str]:
        """Return its namespaces: its own, and the gateway's where there is one."""
        gateway = self.plan.endpoint.gateway
        return [self.namespace, *([gateway.namespace] if gateway else [])]

    def gateway_pods(self) -> list[Object]:
        """Return the live pods of the gateway, without those that are going."""
        pods = self.control_plane.kubectl.list("pods", self.namespaces[-1], self._role("gateway"))
        return [pod for pod in pods if "deletionTimestamp" not in pod["metadata"]]

    def _role(self, role: str) -> str:
        return f"{self._selector},{self.plan.role_label}={role}"

    def clusters(self) -> list[Object]:
        """Return the live RayClusters of the service."""
        selector = f"ray.io/originated-from-cr-name={self.plan.name}"
        return self.control_plane.kubectl.list("rayclusters", self.namespace, selector)

    def wait_for_pods(self, bound: int | None = None, seconds: float = 60) -> list[Object]:
        """Return the pods once all are there, so many, by default all, are bound, and bound workers run."""
        wanted = self.expected_pods() if bound is None else bound

        def settled() -> list[Object] | None:
            pods = self.pods()
            enough = len(pods) == self.expected_pods() and sum(map(is_bound, pods)) == wanted
            return pods if enough and all(runs(pod) for pod in pods if is_bound(pod) and not is_head(pod)) else None

        try:
            found: list[Object] = wait_for("bound pods", settled, seconds)
        except TimeoutError as error:
            raise TimeoutError(f"{error}: {self.pending_reasons()}; {self.warnings()}") from None
        return found

    def pending_reasons(self) -> dict[str, str]:
        """Return why each pod without a node has none, in the scheduler's words."""
        return {pod["metadata"]["name"]: reason_to_wait(pod) for pod in self.pods() if not is_bound(pod)}

    def warnings(self) -> list[str]:
        """Return every event of the type Warning about the deployment's objects, but what is expected."""
        kubectl = self.control_plane.kubectl
        events = [event for namespace in self.namespaces for event in kubectl.list("events", namespace)]
        warnings = (f"{event['reason']}: {event['message']}" for event in events if event["type"] == "Warning")
        return [warning for warning in warnings if not EXPECTED_ERRORS.search(warning)]

    def operator_errors(self) -> Iterator[str]:
        """Yield what the operator logged as an error about this deployment, or as a warning."""
        log = self.control_plane.operator_log
        for line in log.read_text(encoding="utf-8").splitlines() if log else ():
            entry = json.loads(line) if line.startswith("{") else {}
            about = entry.get("RayService") or entry.get("RayCluster") or {}
            if entry.get("level") in ("error", "warn") and about.get("namespace") == self.namespace:
                text = f"{entry['msg']}: {entry.get('error')}"
                if not EXPECTED_ERRORS.search(text):
                    yield text

    def remove(self) -> None:
        """Delete the deployment and its nodes, at once."""
        kubectl = self.control_plane.kubectl
        now = ("--wait=false", "--ignore-not-found")
        names = [node["metadata"]["name"] for node in self.nodes]
        if names:
            kubectl.run("delete", "node", *names, "--ignore-not-found")
        remove_ray(kubectl, self.namespace)
        for namespace in self.namespaces[1:]:  # what would make the gateway's pods anew
            kubectl.run("delete", "deployments", "--namespace", namespace, "--all", *now)
        for namespace in self.namespaces:
            kubectl.run("delete", "pods", "--namespace", namespace, "--all", "--force", "--grace-period=0", *now)
        kubectl.run("delete", "namespace", *self.namespaces, *now)
        kubectl.run("delete", "persistentvolume", "--selector", f"{VOLUME_LABEL}={self.namespace}", *now)


def remove_all(deployments: Iterable[Deployment]) -> None:
    """Delete deployments and their nodes, several at once: kubectl waits more than it works."""
    with ThreadPoolExecutor(max_workers=6) as pool:
        list(pool.map(Deployment.remove, deployments))


def remove_ray(kubectl: Kubectl, namespace: str) -> None:
    """Delete a namespace's RayServices and RayClusters, at once."""
    kinds, here = "rayservices,rayclusters", ("--namespace", namespace)
    kubectl.run("delete", kinds, *here, "--all", "--wait=false")
    for found in kubectl.list(kinds, namespace):
        kind, name = found["kind"].lower(), found["metadata"]["name"]
        # The operator keeps a RayService until its clusters are gone, which it deletes a minute later.
        with suppress(NotFoundError):
            kubectl.run("patch", kind, name, *here, "--type=merge", "-p", '{"metadata":{"finalizers":null}}')


def deployment_of(plan: DeploymentPlan, control_plane: ControlPlane) -> Deployment:
    """Return a plan's deployment, with both halves written and nothing applied."""
    return Deployment(plan, synthesized(plan), whole_deployment(plan), control_plane)


def deployment_as_written(plan: DeploymentPlan, control_plane: ControlPlane) -> Deployment:
    """Return a plan's deployment with the manifests of the app, in its order, and no template."""
    return Deployment(plan, {}, as_written(plan), control_plane)


def is_bound(pod: Object) -> bool:
    """Return whether the scheduler has given a pod a node."""
    return "nodeName" in pod["spec"]


def is_head(pod: Object) -> bool:
    """Return whether a pod is a Ray head."""
    return bool(pod["metadata"]["labels"]["ray.io/node-type"] == "head")


def runs(pod: Object) -> bool:
    """Return whether a pod is said to run."""
    return bool(pod["status"]["phase"] == "Running")


def reason_to_wait(pod: Object) -> str:
    """Return why a pod has no node, in the scheduler's words."""
    conditions = pod["status"].get("conditions", [])
    found: list[str] = [each.get("message", "") for each in conditions if each["type"] == "PodScheduled"]
    return found[0] if found else NOT_LOOKED_AT


def _list(objects: Iterable[Object]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})


def _prerequisites(plan: DeploymentPlan) -> list[Object]:
    """Return what the README asks for beside the manifests, as far as the scheduler looks at it."""
    objects: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": plan.namespace}}]
    if plan.model_cache is None:
        return objects
    claim, volume = plan.model_cache.claim_name, f"{plan.namespace}-{plan.model_cache.claim_name}"
    size = {"storage": "100Gi"}
    storage_class = plan.model_cache_storage.storage_class if plan.model_cache_storage else ""
    made: list[Object] = [
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": {"name": volume, "labels": {VOLUME_LABEL: plan.namespace}},
            "spec": {
                "capacity": size,
                "accessModes": ["ReadWriteMany"],
                "storageClassName": storage_class,
                "nfs": {"server": "127.0.0.1", "path": "/"},
            },
        },
    ]
    if storage_class:  # the manifests have the claim
        return [*objects, *made]
    return [
        *objects,
        *made,
        {
            "apiVersion": "v1",
            "kind": "PersistentVolumeClaim",
            "metadata": {"name": claim, "namespace": plan.namespace},
            "spec": {
                "accessModes": ["ReadWriteMany"],
                "storageClassName": "",
                "volumeName": volume,
                "resources": {"requests": size},
            },
        },
    ]
