"""From whatever stands for an EKS cluster to what the node groups need of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeVar

from aws_cdk import Stack, Token, aws_ec2, aws_eks, aws_eks_v2, aws_iam
from constructs import Construct

from constructs_pd.aws.existing import ExistingCluster
from constructs_pd.aws.references import CLUSTER_NAME, SECURITY_GROUP_ID, VPC_ID, require_form
from constructs_pd.composition import refusal
from constructs_pd.planning.codes import UNKNOWN_OF_CLUSTER, UNSUITABLE_CLUSTER

T = TypeVar("T")
AnyCluster = aws_eks.ICluster | aws_eks_v2.ICluster | ExistingCluster
# Kubernetes documentation, Version Skew Policy: how many minor versions a kubelet may be behind.
MAX_NODE_SKEW: Final = 3
API_ONLY_OR_BOTH: Final = (aws_eks.AuthenticationMode.API, aws_eks.AuthenticationMode.API_AND_CONFIG_MAP)


def existing_cluster(construct: Construct, cluster: AnyCluster, kubernetes_version: str) -> ExistingCluster:
    """Return the names and ids of a cluster: new or imported, of either module, or given as such.

    Raises:
        PlanError: It is no cluster, or an imported one that does not say what is needed (PD506); an id has not its
            form (PD507); a new one does not take the nodes in (PD513).
    """
    if isinstance(cluster, ExistingCluster):
        found = cluster
    elif hasattr(cluster, "cluster_name"):
        _require_suitable(construct, cluster, kubernetes_version)
        found = _of_construct(construct, cluster)
    else:
        raise refusal(
            UNKNOWN_OF_CLUSTER,
            construct.node,
            f"{type(cluster).__name__} is no cluster",
            "pass a Cluster of aws_eks or aws_eks_v2, or an ExistingCluster",
        )
    require_form(construct, CLUSTER_NAME, found.name)
    require_form(construct, SECURITY_GROUP_ID, found.security_group_id)
    require_form(construct, VPC_ID, found.vpc_id)
    return found


def vpc_of(cluster: AnyCluster) -> aws_ec2.IVpc | None:
    """Return the cluster's VPC where it is a construct."""
    return None if isinstance(cluster, ExistingCluster) else cluster.vpc


def let_nodes_join(construct: Construct, cluster: AnyCluster, role: aws_iam.Role) -> None:
    """Enter the nodes' role where a new cluster of `aws_eks` keeps who may join it.

    EKS enters the role of a managed node group itself, but the CDK writes the whole ConfigMap `aws-auth` over it
    (aws-eks/lib/managed-nodegroup.js does the same for its own groups).

    Raises:
        PlanError: The cluster is of another stack, whose ConfigMap cannot name a role of this one (PD513).
    """
    if not isinstance(cluster, aws_eks.Cluster) or cluster.authentication_mode in API_ONLY_OR_BOTH:
        return
    if Stack.of(cluster) is not Stack.of(construct):
        raise refusal(
            UNSUITABLE_CLUSTER,
            construct.node,
            f"{cluster.node.path} names those who may join in a ConfigMap of its own stack, which this role is not in",
            "give the cluster authentication_mode API_AND_CONFIG_MAP, or make the nodes in its stack",
        )
    cluster.aws_auth.add_role_mapping(
        role, username="system:node:{{EC2PrivateDNSName}}", groups=["system:bootstrappers", "system:nodes"]
    )


def _require_suitable(
    construct: Construct, cluster: aws_eks.ICluster | aws_eks_v2.ICluster, kubernetes_version: str
) -> None:
    if cluster.ip_family in (aws_eks.IpFamily.IP_V6, aws_eks_v2.IpFamily.IP_V6):
        raise refusal(
            UNSUITABLE_CLUSTER,
            construct.node,
            f"the pods of {cluster.node.path} have IPv6 addresses, these nodes hand out IPv4 only",
            "use a cluster with IPv4 addresses",
        )
    version = _version(cluster)
    if version is not None and not 0 <= _minor(version) - _minor(kubernetes_version) <= MAX_NODE_SKEW:
        raise refusal(
            UNSUITABLE_CLUSTER,
            construct.node,
            f"{cluster.node.path} is of version {version}, its nodes would be of {kubernetes_version}",
            f"set kubernetes_version to {version!r}; nodes are never newer than the cluster, and at most "
            f"{MAX_NODE_SKEW} versions older",
        )


def _version(cluster: aws_eks.ICluster | aws_eks_v2.ICluster) -> str | None:
    """Return the version of a cluster that the app makes with `aws_eks_v2`; others do not say it."""
    resource = cluster.node.default_child if isinstance(cluster, aws_eks_v2.Cluster) else None
    version = resource.version if isinstance(resource, aws_eks_v2.CfnCluster) else None
    return None if version is None or Token.is_unresolved(version) else version


def _minor(version: str) -> int:
    return int(version.split(".")[1])


def _of_construct(construct: Construct, cluster: aws_eks.ICluster | aws_eks_v2.ICluster) -> ExistingCluster:
    def required(what: str, argument: str, read: Callable[[], str]) -> str:
        remedy = f"pass {argument} to from_cluster_attributes, or use ExistingCluster"
        return require_known(construct, cluster, what, remedy, read)

    return ExistingCluster(
        name=cluster.cluster_name,
        security_group_id=required(
            "security group", "cluster_security_group_id", lambda: cluster.cluster_security_group_id
        ),
        vpc_id=required("VPC", "vpc", lambda: cluster.vpc.vpc_id),
        endpoint=if_known(lambda: cluster.cluster_endpoint),
        certificate_authority_data=if_known(lambda: cluster.cluster_certificate_authority_data),
    )


def require_known(
    construct: Construct, cluster: aws_eks.ICluster | aws_eks_v2.ICluster, what: str, remedy: str, read: Callable[[], T]
) -> T:
    """Return an attribute of a cluster.

    Raises:
        PlanError: It was imported without it (PD506).
    """
    value = if_known(read)
    if value is None:
        message = f"the cluster {cluster.node.path} was imported without its {what}"
        raise refusal(UNKNOWN_OF_CLUSTER, construct.node, message, remedy)
    return value


def if_known(read: Callable[[], T]) -> T | None:
    """Return an attribute, or none where an imported cluster was not told it: jsii raises RuntimeError then."""
    try:
        return read()
    except RuntimeError as error:
        if "for this imported cluster" not in str(error):
            raise
        return None
