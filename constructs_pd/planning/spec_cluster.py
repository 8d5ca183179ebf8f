"""What a user states of an EKS cluster that is made for the deployment, with its network."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import AfterValidator, Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import Cidr, ClusterName, unique

# AWS services whose interface endpoints nodes and pods of this library can use (EKS user guide, Deploy private
# clusters with limited internet access).
InterfaceEndpoint = Literal[
    "ec2", "ecr.api", "ecr.dkr", "eks", "eks-auth", "elasticfilesystem", "elasticloadbalancing", "logs", "sts"
]
# Of what CloudWatch Logs accepts, a day to ten years.
LogRetentionDays = Literal[1, 7, 30, 90, 180, 365, 731, 3653]


# EKS user guide, service quotas: public endpoint access CIDR ranges per cluster.
MOST_PUBLIC_RANGES: Final = 40
Addon = Literal[
    "aws-efs-csi-driver", "coredns", "eks-node-monitoring-agent", "eks-pod-identity-agent", "kube-proxy", "vpc-cni"
]
AddonVersion = Annotated[str, Field(pattern=r"^v\d+\.\d+\.\d+-eksbuild\.\d+$")]


class SystemNodes(FrozenModel):
    """The CPU nodes of a new cluster: for the Ray head, the operators and the load balancer's controller."""

    instance_type: str = Field(
        default="m7i.xlarge", description="their EC2 instance type, with room for the head, such as m7i.xlarge"
    )
    count: int = Field(
        default=2, ge=2, le=20, description="how many there are, 2 to 20: one may go without the operators"
    )


class NewCluster(FrozenModel):
    """An EKS cluster with a network of its own. Its Kubernetes version is the deployment's."""

    other_zones: Annotated[tuple[str, ...], Field(strict=False, min_length=1, max_length=2)] = Field(
        description="one or two more zones for the control plane and load balancers, written as the deployment's: EKS "
        "and load balancers need two zones"
    )
    name: ClusterName | None = Field(
        default=None, description="the cluster's name; default: the deployment's. More deployments can share it"
    )
    vpc_cidr: Cidr = Field(
        default="10.0.0.0/16", description="the addresses of the new network, a /16 to /20 such as 10.0.0.0/16"
    )
    nat_gateways: Literal["one", "per_zone"] = Field(
        default="one",
        description="one: a NAT gateway in the zone of the GPU nodes for all zones; per_zone: one in each",
    )
    interface_endpoints: Annotated[tuple[InterfaceEndpoint, ...], Field(strict=False), AfterValidator(unique)] = Field(
        default=(),
        description=(
            "AWS services reached through interface endpoints in the zone of the GPU nodes instead of the NAT gateway, "
            "such as ecr.api and ecr.dkr; S3, from which image layers come, always has its free gateway endpoint"
        ),
    )
    public_access_cidrs: Annotated[
        tuple[Cidr, ...], Field(strict=False, max_length=MOST_PUBLIC_RANGES), AfterValidator(unique)
    ] = Field(
        default=(),
        description=(
            "the addresses from which the Kubernetes API is reached over the internet, at most 40 ranges such as "
            "ADDRESS/32; default: none, from the network only"
        ),
    )
    log_retention_days: LogRetentionDays = Field(
        default=30, description="how long the control plane's logs are kept: 1, 7, 30, 90, 180, 365, 731 or 3653 days"
    )
    system_nodes: SystemNodes = SystemNodes()
    addon_versions: dict[Addon, AddonVersion] = Field(
        default={},
        description="versions of EKS add-ons that take the place of the catalogue's, such as coredns: "
        "v1.14.6-eksbuild.4",
    )
