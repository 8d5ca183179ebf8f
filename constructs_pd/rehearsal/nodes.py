"""The raylets of a rehearsal: what KubeRay makes of each pod of the rendered cluster.

Read from the manifest and not from the plan, so that what is rehearsed is what is deployed. The rules are those of
KubeRay 1.7.0 (ray-operator/controllers/ray/common/pod.go): CPUs, GPUs and memory from the limits of the first
container unless rayStartParams states them, custom resources and labels from the group, the group's name in
RAY_NODE_TYPE_NAME, which Ray makes the label `ray.io/node-group` of.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from constructs_pd.manifests.ray_cluster import BYTES_PER_GIB, ray_cluster_spec
from constructs_pd.planning.deployment_plan import DeploymentPlan

HEAD: Final = "head"
NODE_ADDRESS: Final = "127.0.0.1"


@dataclass(frozen=True)
class PlannedNode:
    """One pod as Ray sees it.

    Attributes:
        name: Name within the rehearsal, such as `prefill-0`.
        group: `head`, or the worker group.
        cpus: CPUs that it offers. Ray counts them and does not check that the machine has them.
        gpus: GPUs that it offers, counted likewise.
        memory_bytes: Memory that it offers, counted likewise.
        resources: Custom resources.
        labels: Labels, without those that Ray adds.
        environment: Environment variables.
    """

    name: str
    group: str
    cpus: int
    gpus: int
    memory_bytes: int
    resources: dict[str, float]
    labels: dict[str, str]
    environment: dict[str, str]

    @property
    def is_head(self) -> bool:
        """Whether it runs Ray's control plane."""
        return self.group == HEAD


def planned_nodes(plan: DeploymentPlan) -> tuple[PlannedNode, ...]:
    """Return one node per pod, head first."""
    spec = ray_cluster_spec(plan)
    accelerators = {phase.name: phase.accelerator_type for phase in plan.phases}
    nodes = [_node(HEAD, HEAD, spec["headGroupSpec"], None)]
    for group in spec["workerGroupSpecs"]:
        name = group["groupName"]
        nodes += [_node(f"{name}-{index}", name, group, accelerators[name]) for index in range(group["replicas"])]
    return tuple(nodes)


def _node(name: str, group: str, spec: dict[str, Any], accelerator: str | None) -> PlannedNode:
    container = spec["template"]["spec"]["containers"][0]
    limits, start = container["resources"]["limits"], spec["rayStartParams"]
    detected = {} if accelerator is None else {f"accelerator_type:{accelerator}": 1.0}
    return PlannedNode(
        name=name,
        group=group,
        cpus=int(start.get("num-cpus", limits["cpu"])),
        gpus=int(start.get("num-gpus", limits.get("nvidia.com/gpu", 0))),
        memory_bytes=int(limits["memory"].removesuffix("Gi")) * BYTES_PER_GIB,
        # A raylet detects the kind of its GPUs; here there are none to look at.
        resources=detected | {key: float(amount) for key, amount in spec.get("resources", {}).items()},
        labels=dict(spec.get("labels", {})),
        environment={"RAY_NODE_TYPE_NAME": group, **_environment(container["env"])},
    )


def _environment(variables: list[dict[str, Any]]) -> dict[str, str]:
    """Return what a pod would see, its address being the loopback one. Secrets are left out: nothing needs them."""
    found = {variable["name"]: variable["value"] for variable in variables if "value" in variable}
    for variable in variables:
        if variable.get("valueFrom", {}).get("fieldRef", {}).get("fieldPath") == "status.podIP":
            found[variable["name"]] = NODE_ADDRESS
    return found
