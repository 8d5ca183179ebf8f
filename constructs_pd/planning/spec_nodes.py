"""What a user states of the GPU nodes: their capacity, and what the node groups of both phases have in common."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import AmiRelease, PlacementGroupName, TagKey, TagValue

Capacity = Literal["on_demand", "reservation", "capacity_block"]


class Reservation(FrozenModel):
    """An On-Demand Capacity Reservation or a Capacity Block that exists already.

    Its facts are stated because nothing is looked up in AWS: they stand in the output of
    `aws ec2 describe-capacity-reservations`.
    """

    id: str = Field(pattern=r"^cr-[0-9a-f]{17}$", description="the reservation's id: cr- and 17 hexadecimal digits")
    availability_zone: str = Field(
        description="the zone in which it reserves, written as the deployment's: by name (us-west-2a) or id (usw2-az1)"
    )
    instance_count: int = Field(ge=1, description="the instances that it reserves for this deployment, at least 1")
    placement_group: PlacementGroupName | None = Field(
        default=None,
        description="the name of the cluster placement group in which it was made; default: it was made in none",
    )


class Nodes(FrozenModel):
    """What the node groups of both phases have in common."""

    placement_group: Literal["cluster", "none"] = Field(
        default="cluster",
        description=(
            "cluster: on-demand nodes of both phases stand in one cluster placement group made for them; none: "
            "wherever the zone has room"
        ),
    )
    ami_release_version: AmiRelease | None = Field(
        default=None,
        description="a release of the EKS AMI, such as 1.35.2-20261101; default: the newest when EKS is asked",
    )
    vpc_cni_role: Literal["node", "own"] | None = Field(
        default=None,
        description=(
            "where the VPC CNI gets its AWS permissions: node, from the nodes' role; own, from a role of its own "
            "(EKS Pod Identity), and the nodes' role goes without; default: own in a new eks_cluster, else node"
        ),
    )
    tags: Annotated[dict[TagKey, TagValue], Field(max_length=40)] = Field(
        default={}, description="AWS tags of every resource, instance and volume, at most 40"
    )
