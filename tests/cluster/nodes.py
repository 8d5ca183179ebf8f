"""Nodes as the template of a deployment would have them: one for each planned instance."""

from __future__ import annotations

from itertools import cycle
from typing import Any

from cluster.control_plane import KWOK_ANNOTATION
from constructs_pd import DeploymentPlan
from support.both_halves import PHASES, Nodes, cpu_left, memory_left, nodes
from support.ec2 import described
from support.new_cluster import Stacks, zones_of_system_nodes
from support.new_cluster import system_nodes as system_node_group
from support.template import TemplateData

Object = dict[str, Any]

# AWS's sample: m7i.xlarge, 4 vCPU and 16 GiB.
SYSTEM_CAPACITY = {"cpu": "3920m", "memory": "14Gi"}
PODS_PER_NODE = "110"
DEPLOYMENT_LABEL = "constructs-pd/deployment"
ROLE_LABEL = "constructs-pd/role"
ZONE_LABELS = ("topology.kubernetes.io/zone", "topology.k8s.aws/zone-id")


def gpu_nodes(template: TemplateData, zone: str) -> list[Object]:
    """Return the nodes of both phases, whose subnet lies in the zone."""
    return [
        _gpu_node(nodes(template, phase, zone), phase, number)
        for phase in PHASES
        for number in range(nodes(template, phase, zone).desired)
    ]


def decoys(planned: list[Object]) -> list[Object]:
    """Return nodes that no pod of the deployment may take, each with twice the room: the scheduler likes them better.

    They are copies of the planned GPU nodes in another zone and of another deployment, and a bare CPU node.
    """
    copies = []
    for node in planned:
        labels = node["metadata"]["labels"]
        if DEPLOYMENT_LABEL in labels:
            zones = {key: f"{value}x" for key, value in labels.items() if key in ZONE_LABELS}
            copies.append(_roomier(node, "zone", zones))
            copies.append(_roomier(node, "other", {DEPLOYMENT_LABEL: f"{labels[DEPLOYMENT_LABEL]}-other"}))
        else:
            copies.append(_roomier(node, "bare", {ROLE_LABEL: "other"}))
    return copies


def _roomier(node: Object, suffix: str, labels: dict[str, str]) -> Object:
    name = f"{node['metadata']['name']}-{suffix}"
    room = {key: _doubled(amount) for key, amount in node["status"]["capacity"].items()}
    all_labels = {**node["metadata"]["labels"], **labels, "kubernetes.io/hostname": name}
    return _node(name, all_labels, node["spec"]["taints"], room)


def _doubled(amount: str) -> str:
    number = amount.rstrip("mMiG")
    return f"{2 * int(number)}{amount[len(number) :]}"


def _gpu_node(group: Nodes, phase: str, number: int) -> Object:
    """Return a node with what EKS, the kubelet and the device plugins give it."""
    name = f"{group.tags['Name']}-{number}"
    capacity = {
        "cpu": f"{round(group.cpu_cores * 1000)}m",
        "memory": f"{round(group.memory_mib)}Mi",
        "pods": PODS_PER_NODE,
        **{device: str(count) for device, count in group.devices.items()},
    }
    taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in sorted(group.taints)]
    return _node(name, {**group.labels, "eks.amazonaws.com/nodegroup": group.tags["Name"]}, taints, capacity)


def system_nodes(stacks: Stacks) -> list[Object]:
    """Return the CPU nodes of a cluster that is made, one in each zone in turn."""
    group = system_node_group(stacks)
    instance = described()[group["InstanceTypes"][0]]
    network = instance["NetworkInfo"]
    # The VPC CNI gives pods the second and later addresses of each network interface; two pods have the node's own.
    pods = network["MaximumNetworkInterfaces"] * (network["Ipv4AddressesPerInterface"] - 1) + 2
    capacity = {
        "cpu": f"{round(cpu_left(instance['VCpuInfo']['DefaultVCpus']) * 1000)}m",
        "memory": f"{round(memory_left(instance['MemoryInfo']['SizeInMiB'], pods))}Mi",
        "pods": f"{pods}",
    }
    labels = {
        **group["Labels"],
        "kubernetes.io/arch": "amd64",
        "node.kubernetes.io/instance-type": group["InstanceTypes"][0],
    }
    count = group["ScalingConfig"]["DesiredSize"]
    return [
        _node(f"{group['Tags']['Name']}-{number}", {**labels, ZONE_LABELS[0]: zone}, [], capacity)
        for number, zone in zip(range(count), cycle(zones_of_system_nodes(stacks)), strict=False)
    ]


def fitting_nodes(plan: DeploymentPlan, service: Object, suffix: str = "") -> list[Object]:
    """Return a node for each worker of a RayService, made to its pod's wishes: for tests that are not about nodes."""
    return [
        _node(
            f"{plan.name}-{group['groupName']}-{number}{suffix}",
            pod["nodeSelector"],
            [],
            {**pod["containers"][0]["resources"]["limits"], "pods": PODS_PER_NODE},
        )
        for group in service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        for pod in [group["template"]["spec"]]
        for number in range(group["replicas"])
    ]


def system_node(zone: str, name: str, capacity: dict[str, str] = SYSTEM_CAPACITY) -> Object:
    """Return a CPU node for the head and the operators."""
    labels = {ROLE_LABEL: "system", "kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": zone}
    return _node(name, labels, [], {**capacity, "pods": PODS_PER_NODE})


def _node(name: str, labels: dict[str, str], taints: list[Object], capacity: dict[str, str]) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**labels, "kubernetes.io/hostname": name, "kubernetes.io/os": "linux"},
            "annotations": dict([KWOK_ANNOTATION]),
        },
        "spec": {"taints": taints},
        "status": {"capacity": capacity, "allocatable": capacity},
    }
