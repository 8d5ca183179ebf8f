"""What Ray sees of a rendered RayService: the nodes that its pods become and the bundles that it must place.

Everything is read from the rendered manifest. The rules are KubeRay 1.7.0's (pod.go: num-cpus, num-gpus and memory
from the container's limits unless rayStartParams says otherwise, custom resources from the group's `resources`) and
Ray's own, through the deployments that it builds.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from readers.ray_serve import BuiltDeployment

Resources = dict[str, float]


@dataclass
class RayNode:
    """A Ray node with what is still free on it."""

    group: str
    free: Resources

    def fits(self, wanted: Resources) -> bool:
        return all(self.free.get(name, 0) >= amount for name, amount in wanted.items())

    def take(self, wanted: Resources) -> None:
        for name, amount in wanted.items():
            self.free[name] = self.free.get(name, 0) - amount


def ray_nodes(cluster_spec: dict[str, Any]) -> list[RayNode]:
    """Return one node per pod, head first."""
    nodes = [RayNode("head", _offered(cluster_spec["headGroupSpec"]))]
    for group in cluster_spec["workerGroupSpecs"]:
        nodes += [RayNode(group["groupName"], _offered(group)) for _ in range(group["replicas"])]
    return nodes


def _offered(group: dict[str, Any]) -> Resources:
    limits = group["template"]["spec"]["containers"][0]["resources"]["limits"]
    start = group["rayStartParams"]
    return {
        "CPU": float(start.get("num-cpus", limits["cpu"])),
        "GPU": float(start.get("num-gpus", limits.get("nvidia.com/gpu", 0))),
        **{name: float(amount) for name, amount in group.get("resources", {}).items()},
    }


@dataclass
class Placement:
    """Where everything went, and what found no place."""

    placed: dict[str, list[str]] = field(default_factory=dict)
    pending: list[str] = field(default_factory=list)


def replica_demands(deployment: BuiltDeployment) -> list[Resources]:
    """Return what one replica asks for: its bundles, or its actor where it has none.

    `accelerator_type:*` is left out: Ray detects it on the node, a manifest does not state it.
    """
    bundles = deployment.bundles or (_actor(deployment),)
    return [
        {name: amount for name, amount in bundle.items() if not name.startswith("accelerator_type:")}
        for bundle in bundles
    ]


def _actor(deployment: BuiltDeployment) -> Resources:
    options = deployment.ray_actor_options
    return {"CPU": options["num_cpus"], **options.get("resources", {})}


def place(deployments: tuple[BuiltDeployment, ...], nodes: list[RayNode]) -> Placement:
    """Place every replica: all bundles of a replica on one node (STRICT_PACK), the first that has room."""
    placement = Placement()
    for deployment in deployments:
        demands = replica_demands(deployment)
        total: Resources = {}
        for demand in demands:
            for name, amount in demand.items():
                total[name] = total.get(name, 0) + amount
        for _ in range(deployment.num_replicas or 0):
            node = next((node for node in nodes if node.fits(total)), None)
            if node is None:
                placement.pending.append(deployment.name)
            else:
                node.take(total)
                placement.placed.setdefault(deployment.name, []).append(node.group)
    return placement
