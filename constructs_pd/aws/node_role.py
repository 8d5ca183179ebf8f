"""The IAM role of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from aws_cdk import Tags, aws_iam
from constructs import Construct

from constructs_pd.aws.nag import acknowledge

# Each policy with the reason why AWS's own is used, which is also what cdk-nag is told.
NEEDED: Final = {
    "AmazonEKSWorkerNodePolicy": "EKS changes it together with what its nodes need to join a cluster",
    "AmazonEC2ContainerRegistryPullOnly": "it reads images and nothing else; AWS's registries are of other accounts",
}
FOR_VPC_CNI: Final = {
    "AmazonEKS_CNI_Policy": "without a role of its own the VPC CNI has the nodes'; EKS maintains what it needs"
}


def node_role(
    scope: Construct, id: str, *, description: str, tags: Mapping[str, str], for_vpc_cni: bool
) -> aws_iam.Role:
    """Return a role with what a node needs to join and to pull images, and no more.

    The VPC CNI's permissions belong to a role of its own; they are added where the cluster has none for it, since
    nodes would otherwise never become ready (EKS user guide, Amazon EKS node IAM role).
    """
    policies = {**NEEDED, **FOR_VPC_CNI} if for_vpc_cni else NEEDED
    role = aws_iam.Role(
        scope,
        id,
        assumed_by=aws_iam.ServicePrincipal("ec2.amazonaws.com"),
        description=description,
        managed_policies=[aws_iam.ManagedPolicy.from_aws_managed_policy_name(name) for name in policies],
    )
    for key, value in tags.items():
        Tags.of(role).add(key, value)
    for name, reason in policies.items():
        acknowledge(role, f"IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/{name}]", reason)
    return role
