"""What is built of nodes: the node group of one phase, decided."""

from __future__ import annotations

from typing import Literal

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.network import NetworkInterface


class Taint(FrozenModel):
    """A taint of GPU nodes, tolerated by every pod that belongs there.

    Attributes:
        key: Taint key.
        value: Taint value.
        effect: What it does to pods without a toleration, as Kubernetes writes it.
    """

    key: str
    value: str
    effect: Literal["NoSchedule"]


class VolumePlan(FrozenModel):
    """The root volume of a node.

    Attributes:
        device_name: The AMI's root device.
        type: EBS volume type.
        size_gib: Size, in GiB.
        iops: Input/output operations per second.
        throughput_mib_per_second: Throughput, in MiB/s.
    """

    device_name: str
    type: Literal["gp3"]
    size_gib: int
    iops: int
    throughput_mib_per_second: int


class AmiPlan(FrozenModel):
    """The machine image of a node.

    Attributes:
        type: EKS's name of its own image. EKS refuses this and the two versions beside an `id`.
        id: Id of the user's own image, else none.
        release_version: Release of EKS's image, or none for the newest.
        kubernetes_version: Kubernetes version of EKS's image.
    """

    type: Literal["AL2023_x86_64_NVIDIA"] | None
    id: str | None
    release_version: str | None
    kubernetes_version: str | None


class CapacityPlan(FrozenModel):
    """How a phase's nodes are bought, and where EC2 places them.

    Attributes:
        type: EKS's capacity type of the node group.
        market_type: EC2's market, stated for Capacity Blocks only.
        reservation_id: The reservation or Capacity Block that the nodes run in, if any.
        new_placement_group: Whether the nodes join the cluster placement group that is made for the deployment.
        placement_group_name: Name of the existing placement group that they join, if any.
        update_strategy: How EKS replaces nodes: `DEFAULT` starts new ones first, `MINIMAL` ends old ones first and
            never needs more than there are.
    """

    type: Literal["ON_DEMAND", "CAPACITY_BLOCK"]
    market_type: Literal["capacity-block"] | None
    reservation_id: str | None
    new_placement_group: bool
    placement_group_name: str | None
    update_strategy: Literal["DEFAULT", "MINIMAL"]


class NodeGroupPlan(FrozenModel):
    """The node group of one phase: a node for each replica.

    Attributes:
        instance_type: EC2 instance type.
        instance_type_in: Where the type is stated; EKS refuses it in both places, and takes t3.medium from neither.
        min_nodes: Fewest nodes.
        desired_nodes: Nodes, one per replica.
        max_nodes: Most nodes.
        labels: Labels of the nodes.
        taints: Taints of the nodes.
        network_interfaces: Network interfaces of a node, the primary one first.
        capacity: How the nodes are bought.
        ami: Their machine image.
        root_volume: Their disk.
        metadata_hop_limit: How many hops the instance metadata service answers over; 2 reach a pod.
        max_unavailable_nodes: Nodes that EKS replaces at a time.
        tags: AWS tags of the nodes, their volumes and their network interfaces.
    """

    instance_type: str
    instance_type_in: Literal["node_group", "launch_template"]
    min_nodes: int
    desired_nodes: int
    max_nodes: int
    labels: dict[str, str]
    taints: tuple[Taint, ...]
    network_interfaces: tuple[NetworkInterface, ...]
    capacity: CapacityPlan
    ami: AmiPlan
    root_volume: VolumePlan
    metadata_hop_limit: int
    max_unavailable_nodes: int
    tags: dict[str, str]
