"""The one subnet of the GPU nodes, in the plan's zone."""

from __future__ import annotations

from typing import Any, cast

from aws_cdk import Token, aws_ec2
from constructs import Construct, IConstruct

from constructs_pd.aws.eks_network import EksNetwork
from constructs_pd.aws.existing import ExistingSubnet
from constructs_pd.aws.references import SUBNET_ID, is_open, require_form
from constructs_pd.composition import refusal
from constructs_pd.planning.codes import ONE_SUBNET, OTHER_VPC, PUBLIC_SUBNET, SUBNET_ZONE
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.zones import is_zone_id

AnySubnet = aws_ec2.ISubnet | ExistingSubnet


def subnet_id(construct: Construct, subnet: AnySubnet, plan: DeploymentPlan) -> str:
    """Return the id of a subnet that suits the plan's nodes.

    Raises:
        PlanError: It is not one subnet (PD508), its zone is another or unknown (PD509), it is public (PD514), its id
            has not its form (PD507).
    """
    _require_one(construct, subnet, plan.availability_zone)
    _require_zone(construct, subnet, plan.availability_zone)
    most = max(len(phase.nodes.network_interfaces) for phase in plan.phases)
    if _is_public(subnet) and (most > 1 or _hands_out_no_addresses(subnet)):
        raise refusal(
            PUBLIC_SUBNET,
            construct.node,
            f"the subnet is public, and a node with {most} network interfaces gets no public address there",
            "pass a private subnet with a way out, through a NAT gateway or endpoints",
        )
    return require_form(construct, SUBNET_ID, subnet.subnet_id)


def require_in_vpc(construct: Construct, subnet: AnySubnet, vpc: aws_ec2.IVpc | None, vpc_id: str) -> None:
    """Refuse a subnet of another VPC than the cluster's, where both are known.

    Args:
        construct: Who asks.
        subnet: The subnet.
        vpc: The cluster's VPC, where it is a construct.
        vpc_id: Its id.

    Raises:
        PlanError: PD515.
    """
    own = _vpc(subnet)
    if own is None:
        return
    made, cluster_made = _made_by_the_app(own), _made_by_the_app(vpc)
    if made is not None and cluster_made is not None:  # ids are not known yet
        is_other = made.node.path != cluster_made.node.path
    else:
        is_other = not (is_open(own.vpc_id) or is_open(vpc_id)) and own.vpc_id != vpc_id
    if is_other:
        raise refusal(
            OTHER_VPC,
            construct.node,
            f"the subnet is of the VPC {own.node.path}, the cluster of another",
            "pass a subnet of the cluster's VPC",
        )


def _vpc(subnet: AnySubnet) -> aws_ec2.IVpc | None:
    """Return the VPC that a subnet was made or imported with; one that stands alone does not say it."""
    scope = None if isinstance(subnet, ExistingSubnet) else subnet.node.scope
    return cast(aws_ec2.IVpc, scope) if hasattr(scope, "private_subnets") else None


def _made_by_the_app(vpc: Any) -> IConstruct | None:
    """Return the construct that makes a VPC, or none where it was imported."""
    if isinstance(vpc, aws_ec2.Vpc | EksNetwork):
        return vpc
    scope = vpc.node.scope if vpc is not None else None
    return scope if isinstance(scope, EksNetwork) else None


def _is_public(subnet: AnySubnet) -> bool:
    """Return whether a subnet is known to be public: by its class, or as one of its VPC's public ones."""
    if isinstance(subnet, ExistingSubnet):
        return False
    vpc = _vpc(subnet)
    paths = {public.node.path for public in vpc.public_subnets} if vpc else set()
    return isinstance(subnet, aws_ec2.PublicSubnet) or subnet.node.path in paths


def _hands_out_no_addresses(subnet: AnySubnet) -> bool:
    """Return whether a subnet that the app makes gives its instances no public address."""
    resource = None if isinstance(subnet, ExistingSubnet) else subnet.node.default_child
    return isinstance(resource, aws_ec2.CfnSubnet) and resource.map_public_ip_on_launch is False


def _require_one(construct: Construct, subnet: AnySubnet, zone: str) -> None:
    if hasattr(subnet, "subnet_id"):
        return
    if isinstance(subnet, str):
        message = f"the subnet is given as {subnet!r}, without its zone"
        remedy = f"write ExistingSubnet(subnet_id={subnet!r}, availability_zone={zone!r}) if it lies there"
    else:
        given = getattr(subnet, "subnet_ids", subnet)  # of a SelectedSubnets
        count = len(given) if isinstance(given, list | tuple) else 0
        message = f"{count} subnets in a {type(subnet).__name__}, GPU nodes stand in 1"
        remedy = f"pass the one subnet in {zone}: an ISubnet or an ExistingSubnet"
    raise refusal(ONE_SUBNET, construct.node, message, remedy)


def _require_zone(construct: Construct, subnet: AnySubnet, zone: str) -> None:
    known = _zone(subnet)
    if known is None:
        message = f"the zone of the subnet is not known before it is deployed, the plan's is {zone!r}"
        remedy = (
            "give the Vpc its availability_zones, import the subnet with from_subnet_attributes, or use ExistingSubnet"
        )
    elif is_open(known) or known == zone:
        return
    elif is_zone_id(known) != is_zone_id(zone):
        message = (
            f"the subnet's zone {known!r} and the plan's {zone!r} cannot be compared: one is a name, the other an id"
        )
        remedy = "use ExistingSubnet with the zone as the plan writes it"
    else:
        message = f"the subnet lies in {known!r}, the plan's zone is {zone!r}"
        remedy = "pass the subnet in that zone, or plan for the subnet's"
    raise refusal(SUBNET_ZONE, construct.node, message, remedy)


def _zone(subnet: AnySubnet) -> str | None:
    """Return the zone, or none where it is known at deploy time only, or not at all: jsii raises RuntimeError then."""
    try:
        zone = subnet.availability_zone
    except RuntimeError:
        return None
    return None if Token.is_unresolved(zone) else zone
