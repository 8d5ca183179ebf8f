"""What stands in AWS already, by names and ids, for those who have no construct of it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ExistingCluster:
    """An EKS cluster, as `aws eks describe-cluster` shows it. Each value may be a token.

    Attributes:
        name: The cluster's name.
        security_group_id: `resourcesVpcConfig.clusterSecurityGroupId`; nodes without it cannot join.
        vpc_id: `resourcesVpcConfig.vpcId`.
        endpoint: `endpoint`; needed for an AMI of your own only.
        certificate_authority_data: `certificateAuthority.data`; needed for an AMI of your own only.
    """

    name: str
    security_group_id: str
    vpc_id: str
    endpoint: str | None = None
    certificate_authority_data: str | None = None


@dataclass(frozen=True, slots=True)
class ExistingSubnet:
    """A subnet and its zone, as `aws ec2 describe-subnets` shows them. The id may be a token, the zone not.

    Attributes:
        subnet_id: The subnet's id.
        availability_zone: Its zone, written as the specification's: by name (`us-west-2a`) or by id (`usw2-az1`).
    """

    subnet_id: str
    availability_zone: str
