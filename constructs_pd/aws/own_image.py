"""How nodes with an image of the user's own join the cluster: EKS adds nothing to their user data."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Any, Final

from aws_cdk import Fn, Token
from constructs import Construct

from constructs_pd.aws.existing import ExistingCluster
from constructs_pd.aws.user_data import user_data
from constructs_pd.composition import refusal
from constructs_pd.planning.codes import SERVICE_CIDR
from constructs_pd.planning.node_plan import NodeGroupPlan

# EKS API, KubernetesNetworkConfigRequest: the service CIDR is between /24 and /12.
WIDEST: Final = 12
NARROWEST: Final = 24


def own_user_data(
    construct: Construct, nodes: NodeGroupPlan, cluster: ExistingCluster, service_cidr: str | None
) -> str | None:
    """Return the user data of nodes with the user's own image, or none for EKS's.

    Raises:
        PlanError: What it needs of the cluster is unknown, or is no CIDR (PD512).
    """
    if service_cidr is not None and not _is_cidr(service_cidr):
        raise refusal(
            SERVICE_CIDR,
            construct.node,
            f"service_cidr is {service_cidr!r}, no range of IPv4 addresses from /{WIDEST} to /{NARROWEST}",
            "copy kubernetesNetworkConfig.serviceIpv4Cidr from describe-cluster, such as 10.100.0.0/16",
        )
    if nodes.ami.id is None:
        return None
    needed = {
        "name": cluster.name,
        "apiServerEndpoint": cluster.endpoint,
        "certificateAuthority": cluster.certificate_authority_data,
        "cidr": service_cidr,
    }
    known = {name: value for name, value in needed.items() if value}
    if len(known) < len(needed):
        missing = ", ".join(name for name in needed if name not in known)
        raise refusal(
            SERVICE_CIDR,
            construct.node,
            f"{nodes.ami.id} joins the cluster with {len(needed)} facts, {len(needed) - len(known)} unknown: {missing}",
            "give the cluster's endpoint and certificate authority, and service_cidr, as describe-cluster shows them",
        )
    return Fn.base64(user_data(nodes, known))


def _is_cidr(text: Any) -> bool:
    if Token.is_unresolved(text):
        return True
    try:
        return "/" in str(text) and WIDEST <= IPv4Network(str(text)).prefixlen <= NARROWEST
    except ValueError:
        return False
