"""What is built of a new EKS cluster: network, control plane, system nodes and add-ons, decided."""

from __future__ import annotations

from typing import Literal

from pydantic import JsonValue

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.node_plan import VolumePlan

AddonStage = Literal["before_nodes", "after_nodes", "storage"]


class ZonePlan(FrozenModel):
    """The subnets of one zone.

    Attributes:
        zone: Its name or id.
        public_cidr: Addresses of the public subnet: NAT gateway and load balancers.
        private_cidr: Addresses of the private subnet: nodes and pods.
        has_nat_gateway: Whether a NAT gateway stands in it.
    """

    zone: str
    public_cidr: str
    private_cidr: str
    has_nat_gateway: bool


class NetworkPlan(FrozenModel):
    """A VPC.

    Attributes:
        cidr: All its addresses.
        zones: Its zones, that of the GPU nodes first.
        zones_are_ids: Whether zones are written by id.
        interface_endpoints: AWS services with an interface endpoint in the first zone.
    """

    cidr: str
    zones: tuple[ZonePlan, ...]
    zones_are_ids: bool
    interface_endpoints: tuple[str, ...]


class SystemNodesPlan(FrozenModel):
    """The node group of the cluster's own pods.

    Attributes:
        instance_type: EC2 instance type.
        count: Nodes.
        max_unavailable_nodes: Nodes that EKS replaces at a time.
        ami_type: EKS's name of the machine image.
        kubernetes_version: Its Kubernetes version.
        labels: Labels of the nodes; they include what the Ray head selects.
        root_volume: Their disk.
        metadata_hop_limit: How many hops the instance metadata service answers over.
        tags: AWS tags of the nodes and their volumes.
    """

    instance_type: str
    count: int
    max_unavailable_nodes: int
    ami_type: Literal["AL2023_x86_64_STANDARD"]
    kubernetes_version: str
    labels: dict[str, str]
    root_volume: VolumePlan
    metadata_hop_limit: int
    tags: dict[str, str]


class PodPermissions(FrozenModel):
    """AWS permissions that a ServiceAccount's pods get through EKS Pod Identity.

    Attributes:
        namespace: Its namespace.
        service_account: Its name.
        managed_policies: AWS's own policies, by name.
        policy_file: A policy document in `constructs_pd/aws/policies`, by file name, if any.
    """

    namespace: str
    service_account: str
    managed_policies: tuple[str, ...] = ()
    policy_file: str | None = None


class AddonPlan(FrozenModel):
    """An add-on that EKS manages.

    Attributes:
        name: EKS's name of it.
        version: Its version.
        stage: When it is made: nodes need some to become ready, others need nodes, storage drivers come last.
        configuration: Its configuration values.
        permissions: AWS permissions of its pods, if it needs any.
    """

    name: str
    version: str
    stage: AddonStage
    configuration: dict[str, JsonValue]
    permissions: PodPermissions | None


class ChartPlan(FrozenModel):
    """A Helm chart that the deployment needs in its cluster.

    Attributes:
        name: The chart's name, and the release's.
        version: Its version.
        repository: The repository that publishes it.
        namespace: The namespace that it is installed in.
        values: The values that are set; every other is the chart's own.
        cluster_values: Values that are known once the cluster is: a value's name, and what it is.
        timeout_minutes: How long its pods may take to become ready.
        permissions: AWS permissions of its pods, if it needs any.
    """

    name: str
    version: str
    repository: str
    namespace: str
    values: dict[str, JsonValue]
    cluster_values: dict[str, Literal["cluster_name", "vpc_id"]]
    timeout_minutes: int
    permissions: PodPermissions | None


class ModelCacheStoragePlan(FrozenModel):
    """The volume of a model cache that is made for the deployment, on a file system of its own.

    Attributes:
        storage_class: Name of its StorageClass.
        claim_gib: What its claim asks for, in GiB; Kubernetes wants a size, the file system has none.
        throughput: How the file system's throughput is sized.
        directory_permissions: Permissions of the volume's root directory.
    """

    storage_class: str
    claim_gib: int
    throughput: Literal["elastic"]
    directory_permissions: str


class EksClusterPlan(FrozenModel):
    """A new EKS cluster.

    Attributes:
        name: Its name.
        network: Its network.
        log_types: The control plane's logs that are kept.
        log_group_name: Where EKS writes them.
        log_retention_days: How long they are kept, in days.
        public_access_cidrs: Addresses from which its API is reached over the internet; empty: none.
        system_nodes: Its CPU nodes.
        addons: Add-ons that EKS manages, in the order in which they are made.
        tags: AWS tags of everything.
    """

    name: str
    network: NetworkPlan
    log_types: tuple[str, ...]
    log_group_name: str
    log_retention_days: int
    public_access_cidrs: tuple[str, ...]
    system_nodes: SystemNodesPlan
    addons: tuple[AddonPlan, ...]
    tags: dict[str, str]
