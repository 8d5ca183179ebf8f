"""From whatever stands for an EKS cluster to what the node groups need of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aws_cdk import aws_eks, aws_eks_v2
from constructs import Construct

from constructs_pd.aws.existing import ExistingCluster
from constructs_pd.aws.references import require_form
from constructs_pd.composition import refusal
from constructs_pd.planning.codes import UNKNOWN_OF_CLUSTER

AnyCluster = aws_eks.ICluster | aws_eks_v2.ICluster | ExistingCluster


def existing_cluster(construct: Construct, cluster: AnyCluster) -> ExistingCluster:
    """Return the names and ids of a cluster: new or imported, of either module, or given as such.

    Raises:
        PlanError: An imported cluster does not say what is needed (PD506); an id has not its form (PD507).
    """
    found = cluster if isinstance(cluster, ExistingCluster) else _of_construct(construct, cluster)
    require_form(construct, "an EKS cluster's name", found.name, r"[0-9A-Za-z][0-9A-Za-z_-]{0,99}")
    require_form(construct, "a security group id", found.security_group_id, r"sg-[0-9a-f]{8}([0-9a-f]{9})?")
    require_form(construct, "a VPC id", found.vpc_id, r"vpc-[0-9a-f]{8}([0-9a-f]{9})?")
    return found


def _of_construct(construct: Construct, cluster: aws_eks.ICluster | aws_eks_v2.ICluster) -> ExistingCluster:
    def required(what: str, argument: str, read: Callable[[], str]) -> str:
        value = _if_known(read)
        if value is None:
            raise refusal(
                UNKNOWN_OF_CLUSTER,
                construct.node,
                f"the cluster {cluster.node.path} was imported without its {what}",
                f"pass {argument} to from_cluster_attributes, or use ExistingCluster",
            )
        return value

    return ExistingCluster(
        name=cluster.cluster_name,
        security_group_id=required(
            "security group", "cluster_security_group_id", lambda: cluster.cluster_security_group_id
        ),
        vpc_id=required("VPC", "vpc", lambda: cluster.vpc.vpc_id),
        endpoint=_if_known(lambda: cluster.cluster_endpoint),
        certificate_authority_data=_if_known(lambda: cluster.cluster_certificate_authority_data),
    )


def _if_known(read: Callable[[], Any]) -> str | None:
    """Return an attribute, or none: jsii raises RuntimeError for what an imported construct was not told."""
    try:
        return str(read())
    except RuntimeError:
        return None
