"""What a user states of network policies: who is let in, and where the pods may go."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import DNS_1123_LABEL, Cidr, unique

Namespace = Annotated[str, Field(max_length=63, pattern=rf"^{DNS_1123_LABEL}$")]
Namespaces = Annotated[tuple[Namespace, ...], Field(strict=False), AfterValidator(unique)]
Cidrs = Annotated[tuple[Cidr, ...], Field(strict=False), AfterValidator(unique)]
Engine = Literal["vpc_cni", "other"]
CredentialSource = Literal["pod_identity", "instance_metadata"]


class NetworkPolicy(FrozenModel):
    """Denies the deployment's pods everything that it does not need. `{}` is enough beside a new cluster."""

    enforced_by: Engine | None = Field(
        default=None,
        description="what enforces policies in the cluster: vpc_cni (with enableNetworkPolicy) or other; default: "
        "vpc_cni in a new eks_cluster, else it is not known",
    )
    client_namespaces: Namespaces = Field(
        default=(), description="namespaces whose pods may use the endpoint, such as [applications]; default: none"
    )
    balancer_cidrs: Cidrs = Field(
        default=(),
        description="addresses of the load balancer, which are those of its subnets, such as 10.0.0.0/24; default: "
        "the subnets of a new eks_cluster",
    )
    monitoring_namespaces: Namespaces = Field(
        default=(), description="namespaces whose pods may read metrics, such as [monitoring]; default: none"
    )
    operator_namespace: Namespace = Field(
        default="kuberay-system", description="the namespace of the KubeRay operator; default: kuberay-system"
    )
    node_local_dns: bool = Field(
        default=False, description="true: names are also asked of NodeLocal DNSCache, 169.254.20.10; or false"
    )
    kubernetes_api_cidrs: Cidrs = Field(
        default=(),
        description="addresses of the Kubernetes API, for the conformance Job alone; default: those of a new "
        "eks_cluster, else any",
    )
    egress_cidrs: Cidrs = Field(
        default=("0.0.0.0/0",),
        description="addresses that Ray's pods may reach by HTTPS, for weights; default: any but link-local ones",
    )
    credentials: Annotated[tuple[CredentialSource, ...], Field(strict=False), AfterValidator(unique)] = Field(
        default=(),
        description="where Ray's pods get AWS credentials beside their token: pod_identity (169.254.170.23) or "
        "instance_metadata (169.254.169.254, the node's role); default: nowhere",
    )
    collector_namespaces: Namespaces = Field(
        default=(), description="namespaces of tracing's collector, whose pods listen at the port of its address"
    )
    collector_cidrs: Cidrs = Field(default=(), description="addresses of tracing's collector, outside the cluster")
    redis_cidrs: Cidrs = Field(default=(), description="addresses of gcs_fault_tolerance's Redis, outside the cluster")
    redis_namespaces: Namespaces = Field(
        default=(), description="namespaces of gcs_fault_tolerance's Redis, inside the cluster"
    )
