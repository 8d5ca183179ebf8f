"""What a deployment needs in its cluster: operators, device plugins, the balancer's controller, a file system."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from aws_cdk import Duration, RemovalPolicy, Tags, aws_ec2, aws_efs, aws_eks_v2
from constructs import Construct

from constructs_pd.aws.cluster import require_known
from constructs_pd.aws.eks_cluster import EksCluster, eks_cluster_of
from constructs_pd.aws.managed_addon import managed_addon
from constructs_pd.aws.place import neighbours, place_of
from constructs_pd.aws.pod_role import pod_role
from constructs_pd.aws.region import require_region
from constructs_pd.composition import refusal, require_one_plan, require_plan, require_unique, wrong_argument
from constructs_pd.planning.cluster_plan import ChartPlan
from constructs_pd.planning.codes import NO_KUBECTL, UNKNOWN_OF_CLUSTER
from constructs_pd.planning.deployment_plan import DeploymentPlan

T = TypeVar("T")
THROUGHPUT: Final = {"elastic": aws_efs.ThroughputMode.ELASTIC}


class EksAddOns(Construct):
    """The Helm charts of a plan, each waited for, and a file system where the plan has its model cache made.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.
        cluster: An `EksCluster` of the same plan, or a cluster of `aws_eks_v2` with a kubectl provider. On one that the
            plan did not make, the add-on `eks-pod-identity-agent` must run where the endpoint has a load balancer.

    Attributes:
        plan: The plan that this construct renders.
        charts: The charts, by name.
        file_system: The model cache's file system, where the plan has it made.

    Raises:
        PlanError: The cluster renders another plan (PD501), has no kubectl (PD518) or does not say what is needed
            (PD506); the stack is in another region (PD510); the cluster has its add-ons already (PD504).
    """

    def __init__(
        self, scope: Construct, id: str, *, plan: DeploymentPlan, cluster: EksCluster | aws_eks_v2.ICluster
    ) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_region(self, plan)
        made = eks_cluster_of(cluster)
        if made is not None:
            require_one_plan(self, plan, made)
            # Charts are waited for, so there must be nodes for their pods, and names must resolve.
            self.node.add_dependency(made)
        self._cluster = _with_kubectl(self, cluster.cluster if isinstance(cluster, EksCluster) else cluster)
        place = place_of(self, self._cluster.cluster_name)
        # A second one would install the same releases, and take them away from the first when it goes.
        require_unique(self, neighbours(self, place), lambda other: other._cluster.cluster_name)
        self.charts = {chart.name: self._chart(chart) for chart in plan.charts}
        self.file_system = self._model_cache()
        self._place = place  # last, so that a construct that was refused is not in the way of the next

    def _chart(self, chart: ChartPlan) -> aws_eks_v2.HelmChart:
        known = {"cluster_name": self._cluster.cluster_name}
        if "vpc_id" in chart.cluster_values.values():
            known["vpc_id"] = self._known("VPC", "vpc", lambda: self._cluster.vpc.vpc_id)
        values: dict[str, Any] = {
            **chart.values,
            **{name: known[what] for name, what in chart.cluster_values.items()},
        }
        made = aws_eks_v2.HelmChart(
            self,
            chart.name,
            cluster=self._cluster,
            chart=chart.name,
            release=chart.name,
            version=chart.version,
            repository=chart.repository,
            namespace=chart.namespace,
            create_namespace=True,
            values=values,
            wait=True,
            timeout=Duration.minutes(chart.timeout_minutes),
        )
        if chart.permissions is not None:
            role = pod_role(self, f"{chart.name}-role", permissions=chart.permissions, tags=self.plan.tags)
            association = aws_eks_v2.CfnPodIdentityAssociation(
                self,
                f"{chart.name}-identity",
                cluster_name=self._cluster.cluster_name,
                namespace=chart.permissions.namespace,
                service_account=chart.permissions.service_account,
                role_arn=role.role_arn,
            )
            # A pod has the permissions that were there when it started.
            made.node.add_dependency(association, role)
        return made

    def _known(self, what: str, argument: str, read: Callable[[], T]) -> T:
        return require_known(self, self._cluster, what, f"pass {argument} to from_cluster_attributes", read)

    def _model_cache(self) -> aws_efs.FileSystem | None:
        storage, planned = self.plan.model_cache_storage, self.plan.eks_cluster
        if storage is None or planned is None:
            return None
        (driver,) = [
            managed_addon(self, addon=addon, cluster_name=self._cluster.cluster_name, tags=planned.tags)
            for addon in planned.addons
            if addon.stage == "storage"
        ]
        vpc = self._known("VPC", "vpc", lambda: self._cluster.vpc)
        nodes = self._known("security group", "cluster_security_group_id", lambda: self._cluster.cluster_security_group)
        file_system = aws_efs.FileSystem(
            self,
            "ModelCache",
            vpc=vpc,
            vpc_subnets=aws_ec2.SubnetSelection(subnets=_a_subnet_for_each_zone(self, vpc)),
            encrypted=True,
            throughput_mode=THROUGHPUT[storage.throughput],
            # Nodes mount it without IAM; its security group lets the cluster's nodes in. An app that denies this by a
            # feature flag gets a policy under which nobody mounts it (aws/aws-cdk#33669, #36224).
            allow_anonymous_access=True,
            # Weights are downloaded again; nothing that costs money outlives the stack.
            removal_policy=RemovalPolicy.DESTROY,
            enable_automatic_backups=False,
        )
        for key, value in self.plan.tags.items():
            Tags.of(file_system).add(key, value)
        file_system.connections.allow_default_port_from(nodes, "nodes")
        manifest = aws_eks_v2.KubernetesManifest(
            self,
            "StorageClass",
            cluster=self._cluster,
            overwrite=True,
            manifest=[
                {
                    "apiVersion": "storage.k8s.io/v1",
                    "kind": "StorageClass",
                    "metadata": {"name": storage.storage_class, "labels": self.plan.labels},
                    "provisioner": "efs.csi.aws.com",
                    "parameters": {
                        "provisioningMode": "efs-ap",
                        "fileSystemId": file_system.file_system_id,
                        "directoryPerms": storage.directory_permissions,
                    },
                }
            ],
        )
        manifest.node.add_dependency(driver, file_system.mount_targets_available)
        return file_system


def _a_subnet_for_each_zone(construct: Construct, vpc: aws_ec2.IVpc) -> list[aws_ec2.ISubnet]:
    """Return the first private subnet of each zone: EFS has at most one mount target in a zone."""
    by_zone = {subnet.availability_zone: subnet for subnet in reversed(vpc.private_subnets)}
    if not by_zone:
        raise refusal(
            UNKNOWN_OF_CLUSTER,
            construct.node,
            f"the VPC {vpc.node.path} has 0 private subnets, the model cache is mounted from 1 in each zone",
            "import the VPC with its private subnets, or have the plan make the cluster (EksNetwork, EksCluster)",
        )
    return [*by_zone.values()][::-1]


def _with_kubectl(construct: Construct, cluster: Any) -> aws_eks_v2.ICluster:
    """Return a cluster to which the CDK can apply."""
    remedy = "pass an EksCluster, or a cluster of aws_eks_v2 with kubectl_provider_options or kubectl_provider"
    if not hasattr(cluster, "kubectl_provider") or not hasattr(cluster, "cluster_name"):
        raise wrong_argument(construct, "cluster", cluster, remedy)
    if cluster.kubectl_provider is None:
        raise refusal(NO_KUBECTL, construct.node, f"{cluster.node.path} has no kubectl provider", remedy)
    found: aws_eks_v2.ICluster = cluster
    return found
