"""The one subnet of the GPU nodes, in the plan's zone."""

from __future__ import annotations

from aws_cdk import Token, aws_ec2
from constructs import Construct

from constructs_pd.aws.existing import ExistingSubnet
from constructs_pd.aws.references import require_form
from constructs_pd.composition import refusal
from constructs_pd.planning.codes import ONE_SUBNET, SUBNET_ZONE
from constructs_pd.planning.zones import is_zone_id

AnySubnet = aws_ec2.ISubnet | ExistingSubnet


def subnet_id(construct: Construct, subnet: AnySubnet, zone: str) -> str:
    """Return the id of a subnet that lies in the zone.

    Raises:
        PlanError: It is not one subnet (PD508), its zone is another or unknown (PD509), its id has not its form
            (PD507).
    """
    if isinstance(subnet, str):
        raise refusal(
            ONE_SUBNET,
            construct.node,
            f"the subnet is given as {subnet!r}, without its zone",
            f"write ExistingSubnet(subnet_id={subnet!r}, availability_zone={zone!r}) if it lies there",
        )
    if isinstance(subnet, list | tuple | aws_ec2.SelectedSubnets):
        given = subnet.subnet_ids if isinstance(subnet, aws_ec2.SelectedSubnets) else subnet
        raise refusal(
            ONE_SUBNET,
            construct.node,
            f"{len(given)} subnets in a list, GPU nodes stand in 1",
            f"pass the one subnet in {zone}, not a list",
        )
    known = _zone(subnet)
    if known is None:
        raise refusal(
            SUBNET_ZONE,
            construct.node,
            f"the zone of the subnet is not known before it is deployed, the plan's is {zone!r}",
            "give the Vpc its availability_zones, import the subnet with from_subnet_attributes, or use ExistingSubnet",
        )
    if is_zone_id(known) != is_zone_id(zone):
        raise refusal(
            SUBNET_ZONE,
            construct.node,
            f"the subnet's zone {known!r} and the plan's {zone!r} cannot be compared: one is a name, the other an id",
            "use ExistingSubnet with the zone as the plan writes it",
        )
    if known != zone:
        raise refusal(
            SUBNET_ZONE,
            construct.node,
            f"the subnet lies in {known!r}, the plan's zone is {zone!r}",
            "pass the subnet in that zone, or plan for the subnet's",
        )
    require_form(construct, "a subnet id", subnet.subnet_id, r"subnet-[0-9a-f]{8}([0-9a-f]{9})?")
    return subnet.subnet_id


def _zone(subnet: AnySubnet) -> str | None:
    """Return the zone, or none: jsii raises RuntimeError for what an imported subnet was not told."""
    try:
        zone = subnet.availability_zone
    except RuntimeError:
        return None
    return None if Token.is_unresolved(zone) else zone
