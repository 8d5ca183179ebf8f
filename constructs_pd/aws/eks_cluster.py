"""A new EKS cluster, ready for pods."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, cast

from aws_cdk import Annotations, RemovalPolicy, aws_ec2, aws_eks_v2, aws_kms, aws_lambda, aws_logs
from constructs import Construct

from constructs_pd.aws.admins import require_admins
from constructs_pd.aws.eks_network import EksNetwork
from constructs_pd.aws.kubectl_layer import kubectl_layer
from constructs_pd.aws.kubectl_provider import acknowledge_provider, kubectl_options
from constructs_pd.aws.managed_addon import managed_addon
from constructs_pd.aws.nag import acknowledge
from constructs_pd.aws.node_role import node_role
from constructs_pd.aws.place import neighbours, place_of
from constructs_pd.aws.plan_warnings import of_the_cluster, report_warnings
from constructs_pd.aws.planned_cluster import planned_cluster
from constructs_pd.aws.region import require_region
from constructs_pd.aws.system_node_group import SystemNodeGroup
from constructs_pd.aws.tags import tag_list
from constructs_pd.composition import require_kind, require_one_plan, require_plan, require_unique
from constructs_pd.planning.cluster_plan import AddonStage, EksClusterPlan
from constructs_pd.planning.deployment_plan import DeploymentPlan

ADMIN_POLICY: Final = "AmazonEKSClusterAdminPolicy"
LOGS: Final = {
    "api": aws_eks_v2.ClusterLoggingTypes.API,
    "audit": aws_eks_v2.ClusterLoggingTypes.AUDIT,
    "authenticator": aws_eks_v2.ClusterLoggingTypes.AUTHENTICATOR,
    "controllerManager": aws_eks_v2.ClusterLoggingTypes.CONTROLLER_MANAGER,
    "scheduler": aws_eks_v2.ClusterLoggingTypes.SCHEDULER,
}
# What the CDK says of subnets that it did not make; EksNetwork tags them.
UNTAGGED_SUBNET: Final = "@aws-cdk/aws-eks:clusterMustManuallyTagSubnet"


class EksCluster(Construct):
    """An EKS cluster with its CPU nodes and the add-ons without which no pod runs.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render; its specification states `eks_cluster`.
        network: The network that it stands in.
        admin_arns: IAM roles and users who administer it. Default: nobody but the CDK's own kubectl.
        kubectl_layer: The Lambda layer with kubectl and Helm. Default: that of the plan's Kubernetes version, from the
            package `aws-cdk.lambda-layer-kubectl-v35` or the like.

    Attributes:
        plan: The plan that this construct renders.
        cluster: The cluster, as other constructs take it.
        system_nodes: Its CPU nodes; their `node.default_child` is the `CfnNodegroup`.
        network: The network that it stands in.

    Raises:
        PlanError: The plan has no new cluster (PD516) or is for another region (PD510), no kubectl of its version is
            installed (PD517), the network renders another plan (PD501), the app makes the cluster already (PD504), an
            administrator is none (PD519).
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        plan: DeploymentPlan,
        network: EksNetwork,
        admin_arns: Sequence[str] = (),
        kubectl_layer: aws_lambda.ILayerVersion | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_region(self, plan)
        planned = planned_cluster(self, plan)
        require_kind(self, "network", network, EksNetwork)
        require_one_plan(self, plan, network)
        place = place_of(self, planned.name)
        require_unique(self, neighbours(self, place), lambda _: planned.name)
        admins = require_admins(self, admin_arns)
        self.network = network
        made = self._cluster(planned, kubectl_layer)
        self.cluster = cast(aws_eks_v2.ICluster, made)
        for number, arn in enumerate(admins):
            made.grant_access(f"Admin{number}", arn, [_admin()])
        role = node_role(
            self,
            "NodeRole",
            description=f"system nodes of {planned.name}",
            tags=planned.tags,
            for_vpc_cni=plan.vpc_cni_uses_node_role,
        )
        before = self._addons(planned, "before_nodes")
        self.system_nodes = SystemNodeGroup(
            self,
            "SystemNodes",
            nodes=planned.system_nodes,
            cluster_name=self.cluster.cluster_name,
            subnet_ids=[subnet.subnet_id for subnet in network.private_subnets],
            node_role_arn=role.role_arn,
        )
        # Without the CNI no node becomes ready; the others find their agents running.
        self.system_nodes.node.add_dependency(*before)
        for addon in self._addons(planned, "after_nodes"):
            addon.node.add_dependency(self.system_nodes)
        self.node.default_child = made.node.default_child
        report_warnings(self, of_the_cluster(plan))
        self._place = place  # last, so that a construct that was refused is not in the way of the next

    def _cluster(self, planned: EksClusterPlan, layer: aws_lambda.ILayerVersion | None) -> aws_eks_v2.Cluster:
        # EKS would make it itself, and then it would outlive the cluster and keep everything for ever.
        logs = aws_logs.CfnLogGroup(
            self,
            "Logs",
            log_group_name=planned.log_group_name,
            retention_in_days=planned.log_retention_days,
            tags=tag_list(planned.tags),
        )
        logs.apply_removal_policy(RemovalPolicy.DESTROY)
        Annotations.of(self).acknowledge_warning(UNTAGGED_SUBNET, "EksNetwork tags them")
        cluster = aws_eks_v2.Cluster(
            self,
            "Cluster",
            cluster_name=planned.name,
            version=aws_eks_v2.KubernetesVersion.of(self.plan.versions.kubernetes),
            vpc=self.network.vpc,
            vpc_subnets=[aws_ec2.SubnetSelection(subnets=self.network.vpc.private_subnets)],
            default_capacity_type=aws_eks_v2.DefaultCapacityType.NODEGROUP,
            default_capacity=0,
            bootstrap_self_managed_addons=False,
            # Whoever deploys is a role of CloudFormation's; admins are named instead.
            bootstrap_cluster_creator_admin_permissions=False,
            endpoint_access=_access(planned),
            cluster_logging=[LOGS[kind] for kind in planned.log_types],
            secrets_encryption_key=aws_kms.Key(
                self,
                "SecretsKey",
                description=f"Kubernetes secrets of {planned.name}",
                enable_key_rotation=True,
                removal_policy=RemovalPolicy.DESTROY,
            ),
            kubectl_provider_options=kubectl_options(
                self, planned, layer or kubectl_layer(self, self.plan.versions.kubernetes)
            ),
            tags=planned.tags,
        )
        resource = cluster.node.default_child
        assert isinstance(resource, aws_eks_v2.CfnCluster)
        for needed in (logs, *self.network.ways_out):
            resource.add_resource_dependency(needed)
        self._acknowledge(cluster)
        return cluster

    def _acknowledge(self, cluster: aws_eks_v2.Cluster) -> None:
        # A condition for a policy that the role goes without.
        assert self.node.try_remove_child("HasEcrPublic")
        acknowledge_provider(cluster)
        acknowledge(
            cluster,
            "IAM4[Policy::arn:<AWS::Partition>:iam::aws:policy/AmazonEKSClusterPolicy]",
            "EKS changes it together with what its control plane needs",
        )

    def _addons(self, planned: EksClusterPlan, stage: AddonStage) -> list[Construct]:
        """Return the add-ons of a stage, each after the one before it."""
        made: list[Construct] = []
        for addon in planned.addons:
            if addon.stage == stage:
                made.append(managed_addon(self, addon=addon, cluster_name=self.cluster.cluster_name, tags=planned.tags))
        for earlier, later in pairwise(made):
            later.node.add_dependency(earlier)
        return made


def eks_cluster_of(cluster: Any) -> EksCluster | None:
    """Return the EksCluster that was passed, itself or by its `cluster`: what uses either waits for all of it."""
    if isinstance(cluster, EksCluster):
        return cluster
    scope = cluster.node.scope if isinstance(cluster, aws_eks_v2.Cluster) else None
    return scope if isinstance(scope, EksCluster) else None


def _access(planned: EksClusterPlan) -> aws_eks_v2.EndpointAccess:
    if not planned.public_access_cidrs:
        return aws_eks_v2.EndpointAccess.PRIVATE
    return aws_eks_v2.EndpointAccess.PUBLIC_AND_PRIVATE.only_from(*planned.public_access_cidrs)


def _admin() -> aws_eks_v2.IAccessPolicy:
    return aws_eks_v2.AccessPolicy.from_access_policy_name(
        ADMIN_POLICY, access_scope_type=aws_eks_v2.AccessScopeType.CLUSTER
    )
