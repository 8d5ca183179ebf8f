"""What is decided for the nodes of one phase."""

from __future__ import annotations

from math import ceil
from typing import Literal

from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import PhaseFacts
from constructs_pd.planning.labels import role_labels, tags
from constructs_pd.planning.network import network_interfaces
from constructs_pd.planning.node_plan import AmiPlan, CapacityPlan, NodeGroupPlan, Taint, VolumePlan
from constructs_pd.planning.sizes import MIB_PER_GIB
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import Phase


def node_group_plan(phase: PhaseFacts, spec: DeploymentSpec) -> NodeGroupPlan:
    """Decide everything about the nodes of one phase, whose instance type must be known."""
    instance, stated = phase.instance, phase.spec
    assert instance is not None  # PD201 refuses what is not known
    return NodeGroupPlan(
        instance_type=instance.instance_type,
        instance_type_in=_instance_type_in(stated),
        min_nodes=_min_nodes(stated),
        desired_nodes=stated.replicas,
        max_nodes=stated.most_nodes,
        labels={**role_labels(spec.name, phase.name), **dict([defaults.GPU_PRESENT_LABEL])},
        taints=(Taint(key=defaults.GPU_TAINT_KEY, value="true", effect="NoSchedule"),),
        network_interfaces=network_interfaces(instance.efa),
        capacity=_capacity(stated, spec),
        ami=_ami(stated, spec),
        root_volume=VolumePlan(
            device_name=defaults.ROOT_DEVICE,
            type="gp3",
            size_gib=stated.root_volume_gib or _root_volume_gib(instance, spec),
            iops=defaults.ROOT_VOLUME_IOPS,
            throughput_mib_per_second=defaults.ROOT_VOLUME_THROUGHPUT_MIB_PER_SECOND,
        ),
        metadata_hop_limit=defaults.METADATA_HOP_LIMIT,
        max_unavailable_nodes=defaults.MAX_UNAVAILABLE_NODES,
        tags={**tags(spec), "Name": f"{spec.name}-{phase.name}"},
    )


def _min_nodes(phase: Phase) -> int:
    """EKS scales the node group of a Capacity Block to 0 before the block ends, and wants it at 0 for an update."""
    if phase.min_nodes is not None:
        return phase.min_nodes
    return 0 if phase.capacity == "capacity_block" else phase.replicas


def _instance_type_in(phase: Phase) -> Literal["node_group", "launch_template"]:
    """EKS wants the type of a Capacity Block in the launch template, and else takes it from either place."""
    return "launch_template" if phase.capacity == "capacity_block" else "node_group"


def _capacity(phase: Phase, spec: DeploymentSpec) -> CapacityPlan:
    reserved = phase.reservation
    return CapacityPlan(
        type="CAPACITY_BLOCK" if phase.capacity == "capacity_block" else "ON_DEMAND",
        market_type="capacity-block" if phase.capacity == "capacity_block" else None,
        reservation_id=reserved.id if reserved else None,
        # A placement group that a reservation was not made in leaves a part of it unusable (eksctl-io/eksctl#7949).
        new_placement_group=reserved is None and spec.nodes.placement_group == "cluster",
        placement_group_name=reserved.placement_group if reserved else None,
        # Nothing can be started beside the nodes of a full reservation.
        update_strategy="MINIMAL" if reserved else "DEFAULT",
    )


def _ami(phase: Phase, spec: DeploymentSpec) -> AmiPlan:
    if phase.ami_id is not None:
        return AmiPlan(type=None, id=phase.ami_id, release_version=None, kubernetes_version=None)
    return AmiPlan(
        type=defaults.AMI_TYPE,
        id=None,
        release_version=spec.nodes.ami_release_version,
        kubernetes_version=spec.kubernetes_version,
    )


def _root_volume_gib(instance: InstanceRow, spec: DeploymentSpec) -> int:
    """Room for images and logs, and for the weights where no shared volume takes them.

    Weights that fit into the memory of a node's GPUs, which they must, fit on a disk of that size.
    """
    weights = 0 if spec.model_cache else ceil(instance.gpu.count * instance.gpu.memory_mib / MIB_PER_GIB)
    return defaults.ROOT_VOLUME_GIB + weights
