"""The GPU nodes of a deployment: one managed node group per phase."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import Fn, Stack, Stage, Token, aws_ec2
from constructs import Construct

from constructs_pd.aws.cluster import AnyCluster, existing_cluster
from constructs_pd.aws.existing import ExistingCluster
from constructs_pd.aws.launch_template import launch_template_data, tag_list
from constructs_pd.aws.node_role import node_role
from constructs_pd.aws.phase_node_group import PhaseNodeGroup
from constructs_pd.aws.plan_warnings import report_warnings
from constructs_pd.aws.security_group import EfaSecurityGroup
from constructs_pd.aws.subnet import AnySubnet, subnet_id
from constructs_pd.aws.user_data import user_data
from constructs_pd.composition import refusal, require_unique
from constructs_pd.planning.codes import SECURITY_GROUPS, SERVICE_CIDR, STACK_REGION
from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan
from constructs_pd.planning.node_plan import NodeGroupPlan

MAX_SECURITY_GROUPS = 5


class EksGpuNodeGroups(Construct):
    """One managed node group with EFA for prefill and one for decode, in one subnet.

    Beside them stand what they share: a security group with all traffic to and from itself, a role, and a cluster
    placement group for on-demand nodes. The plan's warnings appear in the CDK validation report.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.
        cluster: The EKS cluster: of `aws_eks` or `aws_eks_v2`, new or imported, or an `ExistingCluster`.
        subnet: The subnet of all GPU nodes, private, in the plan's zone.
        security_groups: More security groups for the nodes, at most 3. Default: none.
        service_cidr: The cluster's service CIDR, such as `10.100.0.0/16`; needed for an AMI of your own only.

    Attributes:
        plan: The plan that this construct renders.
        cluster_name: Name of the cluster.
        prefill: The node group of the prefill phase; its `node.default_child` is the `CfnNodegroup`.
        decode: The node group of the decode phase.
        role: The nodes' IAM role.
        security_group: The security group of all GPU nodes.
        placement_group: The cluster placement group, where the plan has one made.

    Raises:
        PlanError: The cluster, the subnet or the stack does not fit the plan (PD504, PD506 to PD512).
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        plan: DeploymentPlan,
        cluster: AnyCluster,
        subnet: AnySubnet,
        security_groups: Sequence[aws_ec2.ISecurityGroup] = (),
        service_cidr: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.plan = plan
        _require_region(self, plan)
        known = existing_cluster(self, cluster)
        self.cluster_name = known.name
        _require_unique_in_cluster(self)
        nodes_subnet = subnet_id(self, subnet, plan.availability_zone)
        efa = EfaSecurityGroup(self, "SecurityGroup", vpc_id=known.vpc_id, deployment=plan.name, tags=plan.tags)
        self.security_group: aws_ec2.ISecurityGroup = aws_ec2.SecurityGroup.from_security_group_id(
            self, "GpuNodes", efa.group_id, mutable=False
        )
        groups = [known.security_group_id, efa.group_id, *(group.security_group_id for group in security_groups)]
        _require_few(self, groups)
        self.role = node_role(
            self, "Role", deployment=plan.name, tags=plan.tags, for_vpc_cni=plan.vpc_cni_uses_node_role
        )
        self.placement_group = self._placement_group()

        def phase(of: PhasePlan) -> PhaseNodeGroup:
            group = PhaseNodeGroup(
                self,
                of.name,
                nodes=of.nodes,
                template=launch_template_data(
                    of.nodes,
                    security_group_ids=groups,
                    placement_group_name=self._placement_group_name(of.nodes),
                    user_data=_user_data(self, of.nodes, known, service_cidr),
                ),
                cluster_name=known.name,
                subnet_id=nodes_subnet,
                node_role_arn=self.role.role_arn,
            )
            # A node that starts before the rules are there has no EFA.
            group.node.add_dependency(*efa.rules)
            return group

        self.prefill = phase(plan.prefill)
        self.decode = phase(plan.decode)
        report_warnings(self, plan.findings)

    def _placement_group(self) -> aws_ec2.CfnPlacementGroup | None:
        if not any(phase.nodes.capacity.new_placement_group for phase in self.plan.phases):
            return None
        return aws_ec2.CfnPlacementGroup(self, "PlacementGroup", strategy="cluster", tags=tag_list(self.plan.tags))

    def _placement_group_name(self, nodes: NodeGroupPlan) -> str | None:
        if nodes.capacity.new_placement_group and self.placement_group is not None:
            return self.placement_group.attr_group_name
        return nodes.capacity.placement_group_name


def _require_region(construct: Construct, plan: DeploymentPlan) -> None:
    region = Stack.of(construct).region
    if not Token.is_unresolved(region) and region != plan.region:
        raise refusal(
            STACK_REGION,
            construct.node,
            f"the stack is in {region!r}, the plan is for {plan.region!r}",
            f"make the stack with Environment(region={plan.region!r}), or plan for {region!r}",
        )


def _require_unique_in_cluster(construct: EksGpuNodeGroups) -> None:
    """The same deployment may stand in several clusters of an app, such as one per stage or region."""
    root = Stage.of(construct) or construct.node.root
    neighbours = [
        other
        for other in root.node.find_all()
        if isinstance(other, EksGpuNodeGroups) and getattr(other, "cluster_name", None) == construct.cluster_name
    ]
    require_unique(construct, neighbours, lambda other: other.plan.name)


def _require_few(construct: Construct, security_group_ids: Sequence[str]) -> None:
    if len(security_group_ids) > MAX_SECURITY_GROUPS:
        raise refusal(
            SECURITY_GROUPS,
            construct.node,
            f"{len(security_group_ids)} security groups, a network interface has at most {MAX_SECURITY_GROUPS}",
            f"pass {MAX_SECURITY_GROUPS - 2} or fewer: the cluster's and the one for EFA are there already",
        )


def _user_data(
    construct: Construct, nodes: NodeGroupPlan, cluster: ExistingCluster, service_cidr: str | None
) -> str | None:
    if nodes.ami.id is None:
        return None
    needed = {
        "name": cluster.name,
        "apiServerEndpoint": cluster.endpoint,
        "certificateAuthority": cluster.certificate_authority_data,
        "cidr": service_cidr,
    }
    known = {name: value for name, value in needed.items() if value is not None}
    if len(known) < len(needed):
        missing = ", ".join(name for name in needed if name not in known)
        raise refusal(
            SERVICE_CIDR,
            construct.node,
            f"{nodes.ami.id} joins the cluster with {len(needed)} facts, {len(needed) - len(known)} unknown: {missing}",
            "give the cluster's endpoint and certificate authority, and service_cidr, as describe-cluster shows them",
        )
    return Fn.base64(user_data(nodes, known))
