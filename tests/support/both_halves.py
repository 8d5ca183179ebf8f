"""Where a template and the manifests of one deployment disagree, read from what each half wrote.

What EKS, the device plugins and the kubelet make of a node group is computed from the template alone and EC2's own
description of the instance type (moto); what the pods ask for comes from the manifests alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from support.ec2 import described
from support.rendered import Manifest, only
from support.template import TemplateData, launch_template, node_group

PHASES = ("prefill", "decode")
# EKS's names of taint effects, as Kubernetes writes them.
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
# The CPU of EKS's image; an image of the user's own is believed to be the same.
ARCHITECTURES = {"AL2023_x86_64_NVIDIA": "amd64", None: "amd64"}
WHOLE_NODE = ("nvidia.com/gpu", "vpc.amazonaws.com/efa")
Taint = tuple[str, str, str]


@dataclass(frozen=True)
class Nodes:
    """What a node group gives Kubernetes.

    Attributes:
        instance_type: EC2 instance type.
        labels: Labels of its nodes.
        taints: Taints of its nodes: key, value, effect.
        devices: What the device plugins offer on a node.
        cpu_cores: CPU that the kubelet leaves to pods.
        memory_mib: Memory that the kubelet leaves to pods.
        fewest: Fewest nodes.
        desired: Nodes.
        most: Most nodes.
        tags: Tags of the group.
    """

    instance_type: str
    labels: dict[str, str]
    taints: frozenset[Taint]
    devices: dict[str, int]
    cpu_cores: float
    memory_mib: float
    fewest: int
    desired: int
    most: int
    tags: dict[str, str]


def nodes(template: TemplateData, phase: str, zone: str) -> Nodes:
    """Return the nodes of a phase's node group, whose subnet lies in the zone."""
    group, launch = node_group(template, phase), launch_template(template, phase)
    (instance_type,) = group.get("InstanceTypes") or [launch["InstanceType"]]
    instance = described()[instance_type]
    zone_label = "topology.k8s.aws/zone-id" if "-az" in zone else "topology.kubernetes.io/zone"
    kinds = [interface["InterfaceType"] for interface in launch["NetworkInterfaces"]]
    return Nodes(
        instance_type=instance_type,
        labels={
            **group["Labels"],
            "kubernetes.io/arch": ARCHITECTURES[group.get("AmiType")],
            "node.kubernetes.io/instance-type": instance_type,
            zone_label: zone,
        },
        taints=frozenset((taint["Key"], taint["Value"], EFFECTS[taint["Effect"]]) for taint in group["Taints"]),
        devices={
            "nvidia.com/gpu": instance["GpuInfo"]["Gpus"][0]["Count"],
            "vpc.amazonaws.com/efa": sum(kind in ("efa", "efa-only") for kind in kinds),
        },
        cpu_cores=cpu_left(instance["VCpuInfo"]["DefaultVCpus"]),
        memory_mib=memory_left(instance["MemoryInfo"]["SizeInMiB"]),
        fewest=group["ScalingConfig"]["MinSize"],
        desired=group["ScalingConfig"]["DesiredSize"],
        most=group["ScalingConfig"]["MaxSize"],
        tags=group["Tags"],
    )


def cpu_left(cores: int) -> float:
    """Return what EKS's AMI leaves of a node's cores: 6 % of the first, 1 % of the second and so on are reserved."""
    return cores - (0.06 + 0.01 + 2 * 0.005 + (cores - 4) * 0.0025)


def memory_left(mib: int, pods: int = 110) -> float:
    """Return what is left of a node's memory after the hypervisor (7.5 %), the kubelet and the eviction threshold.

    The kubelet's part is 255 MiB and 11 MiB a pod (awslabs/amazon-eks-ami); a node is believed to run 110 pods.
    """
    return mib * 0.925 - (255 + 11 * pods) - 100


def disagreements(template: TemplateData, manifests: list[Manifest], zone: str) -> list[str]:
    """Return everything in which the two halves do not fit each other."""
    service = only(manifests, "RayService")
    phases = {phase: nodes(template, phase, zone) for phase in PHASES}
    return [text for phase in PHASES for text in _of_phase(service, phase, phases)]


def _of_phase(service: Manifest, phase: str, phases: dict[str, Nodes]) -> Iterator[str]:
    cluster = service["spec"]["rayClusterConfig"]
    (group,) = [group for group in cluster["workerGroupSpecs"] if group["groupName"] == phase]
    pod, head = group["template"]["spec"], cluster["headGroupSpec"]["template"]["spec"]
    own = phases[phase]
    (other,) = [found for name, found in phases.items() if name != phase]
    if not _selects(pod, own):
        yield f"{phase}: its pods select {pod['nodeSelector']}, its nodes have {own.labels}"
    if _selects(pod, other):
        yield f"{phase}: its pods select the other phase's nodes"
    for taint in sorted(own.taints):
        if not _tolerates(pod, taint):
            yield f"{phase}: its pods do not tolerate {taint}"
    if _selects(head, own) or all(_tolerates(head, taint) for taint in own.taints):
        yield f"{phase}: the head fits its nodes"
    yield from _sizes(pod, phase, own)
    if not group["replicas"] == group["minReplicas"] == group["maxReplicas"] == own.desired:
        yield f"{phase}: {group['replicas']} pods, {own.desired} nodes"
    needed = own.desired * (2 if service["spec"]["upgradeStrategy"]["type"] == "NewCluster" else 1)
    if not own.fewest <= own.desired <= needed <= own.most:
        yield f"{phase}: {own.fewest} to {own.most} nodes, an upgrade takes {needed}"
    name = service["metadata"]["name"]
    if own.tags["Name"] != f"{name}-{phase}":
        yield f"{phase}: its nodes are called {own.tags['Name']}, the service {name}"


def _sizes(pod: dict[str, Any], phase: str, own: Nodes) -> Iterator[str]:
    (container,) = pod["containers"]
    limits, requests = container["resources"]["limits"], container["resources"]["requests"]
    for device in WHOLE_NODE:
        if not limits[device] == requests[device] == str(own.devices[device]):
            yield f"{phase}: {limits[device]} {device} of {own.devices[device]}"
    for check in pod["initContainers"]:
        if check["resources"] != container["resources"]:
            yield f"{phase}: {check['name']} asks for {check['resources']['limits']}"
    # Neither more than there is, nor so little that a second pod has room.
    if not own.cpu_cores / 2 < int(limits["cpu"]) < own.cpu_cores:
        yield f"{phase}: {limits['cpu']} cores of {own.cpu_cores:.0f}"
    memory_mib = int(limits["memory"].removesuffix("Gi")) * 1024
    if not own.memory_mib / 2 < memory_mib < own.memory_mib:
        yield f"{phase}: {memory_mib} MiB of {own.memory_mib:.0f}"


def _selects(pod: dict[str, Any], own: Nodes) -> bool:
    return bool(pod["nodeSelector"].items() <= own.labels.items())


def _tolerates(pod: dict[str, Any], taint: Taint) -> bool:
    key, value, effect = taint
    return any(
        toleration.get("key") in (key, None)
        and toleration.get("effect") in (effect, None)
        and (toleration.get("operator") == "Exists" or toleration.get("value") == value)
        for toleration in pod.get("tolerations", [])
    )
