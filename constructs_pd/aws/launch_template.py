"""The launch template of a phase's nodes: everything that a managed node group cannot say."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2

from constructs_pd.aws.tags import tag_list
from constructs_pd.planning.network import NetworkInterface
from constructs_pd.planning.node_plan import CapacityPlan, NodeGroupPlan, VolumePlan

Template = aws_ec2.CfnLaunchTemplate
TAGGED = ("instance", "volume", "network-interface")


def launch_template_data(
    nodes: NodeGroupPlan,
    *,
    security_group_ids: Sequence[str],
    placement_group_name: str | None,
    user_data: str | None,
) -> Template.LaunchTemplateDataProperty:
    """Return the template's content.

    It names no subnet and no instance profile, which EKS refuses here, and security groups on interfaces only, since
    EC2 refuses them in both places (EKS user guide, Customize managed nodes with launch templates).
    """
    capacity = nodes.capacity
    return Template.LaunchTemplateDataProperty(
        instance_type=nodes.instance_type if nodes.instance_type_in == "launch_template" else None,
        image_id=nodes.ami.id,
        user_data=user_data,
        network_interfaces=[_interface(interface, security_group_ids) for interface in nodes.network_interfaces],
        placement=Template.PlacementProperty(group_name=placement_group_name) if placement_group_name else None,
        instance_market_options=_market(capacity),
        capacity_reservation_specification=_reservation(capacity),
        block_device_mappings=[root_device(nodes.root_volume)],
        metadata_options=Template.MetadataOptionsProperty(
            http_endpoint="enabled", http_tokens="required", http_put_response_hop_limit=nodes.metadata_hop_limit
        ),
        tag_specifications=[
            Template.TagSpecificationProperty(resource_type=kind, tags=tag_list(nodes.tags)) for kind in TAGGED
        ],
    )


def _interface(interface: NetworkInterface, security_group_ids: Sequence[str]) -> Template.NetworkInterfaceProperty:
    return Template.NetworkInterfaceProperty(
        network_card_index=interface.network_card,
        device_index=interface.device,
        interface_type=interface.kind,
        groups=list(security_group_ids),
        delete_on_termination=True,
        description=f"card {interface.network_card}, device {interface.device}: {interface.kind}",
    )


def _market(capacity: CapacityPlan) -> Template.InstanceMarketOptionsProperty | None:
    if capacity.market_type is None:
        return None
    return Template.InstanceMarketOptionsProperty(market_type=capacity.market_type)


def _reservation(capacity: CapacityPlan) -> Template.CapacityReservationSpecificationProperty | None:
    if capacity.reservation_id is None:
        return None
    return Template.CapacityReservationSpecificationProperty(
        capacity_reservation_target=Template.CapacityReservationTargetProperty(
            capacity_reservation_id=capacity.reservation_id
        )
    )


def root_device(volume: VolumePlan) -> Template.BlockDeviceMappingProperty:
    """Return a node's disk, encrypted."""
    return Template.BlockDeviceMappingProperty(
        device_name=volume.device_name,
        ebs=Template.EbsProperty(
            volume_type=volume.type,
            volume_size=volume.size_gib,
            iops=volume.iops,
            throughput=volume.throughput_mib_per_second,
            encrypted=True,
            delete_on_termination=True,
        ),
    )
