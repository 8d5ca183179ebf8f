"""The GPU nodes of a deployment: one managed node group per phase."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from aws_cdk import aws_ec2
from constructs import Construct

from constructs_pd.aws.cluster import AnyCluster, existing_cluster, let_nodes_join, vpc_of
from constructs_pd.aws.eks_cluster import EksCluster, eks_cluster_of
from constructs_pd.aws.existing import ExistingSubnet
from constructs_pd.aws.launch_template import launch_template_data
from constructs_pd.aws.node_role import node_role
from constructs_pd.aws.own_image import own_user_data
from constructs_pd.aws.phase_node_group import PhaseNodeGroup
from constructs_pd.aws.place import neighbours, place_of
from constructs_pd.aws.plan_warnings import of_the_deployment, report_warnings
from constructs_pd.aws.references import SECURITY_GROUP_ID, require_form
from constructs_pd.aws.region import require_region
from constructs_pd.aws.security_group import EfaSecurityGroup
from constructs_pd.aws.subnet import AnySubnet, require_in_vpc, subnet_id
from constructs_pd.composition import refusal, require_plan, require_unique
from constructs_pd.planning.codes import SECURITY_GROUPS
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.node_plan import NodeGroupPlan

# Amazon VPC User Guide, quotas: security groups per network interface, unless AWS raises it for the account.
MAX_SECURITY_GROUPS: Final = 5


class EksGpuNodeGroups(Construct):
    """One managed node group with EFA for prefill and one for decode, in one subnet.

    Beside them stand what they share: a security group with all traffic to and from itself, a role, and a cluster
    placement group for on-demand nodes. The plan's warnings appear in the CDK validation report.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.
        cluster: The EKS cluster: an `EksCluster`, one of `aws_eks` or `aws_eks_v2`, new or imported, or an
            `ExistingCluster`.
        subnet: The subnet of all GPU nodes, private, in the plan's zone.
        security_groups: More security groups for the nodes, at most 3. Default: none.
        service_cidr: The cluster's service CIDR, such as `10.100.0.0/16`; needed for an AMI of your own only.

    Attributes:
        plan: The plan that this construct renders.
        prefill: The node group of the prefill phase; its `node.default_child` is the `CfnNodegroup`.
        decode: The node group of the decode phase.
        role: The nodes' IAM role.
        security_group: The security group of all GPU nodes.
        placement_group: The cluster placement group, where the plan has one made.

    Raises:
        PlanError: The cluster, the subnet or the stack does not fit the plan (PD504, PD506 to PD515).
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        plan: DeploymentPlan,
        cluster: EksCluster | AnyCluster,
        subnet: AnySubnet,
        security_groups: Sequence[aws_ec2.ISecurityGroup] = (),
        service_cidr: str | None = None,
    ) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_region(self, plan)
        made = eks_cluster_of(cluster)
        if made is not None:
            # Without its CNI no node becomes ready.
            self.node.add_dependency(made)
        known_by = cluster.cluster if isinstance(cluster, EksCluster) else cluster
        known = existing_cluster(self, known_by, plan.versions.kubernetes)
        place = place_of(self, known.name)
        require_unique(self, neighbours(self, place), lambda other: other.plan.name)
        nodes_subnet = subnet_id(self, subnet, plan)
        require_in_vpc(self, subnet, vpc_of(known_by), known.vpc_id)
        efa = EfaSecurityGroup(self, "SecurityGroup", vpc_id=known.vpc_id, deployment=plan.name, tags=plan.tags)
        groups = _security_group_ids(self, [known.security_group_id, efa.group_id], security_groups)
        user_data = {phase.name: own_user_data(self, phase.nodes, known, service_cidr) for phase in plan.phases}
        self.security_group: aws_ec2.ISecurityGroup = aws_ec2.SecurityGroup.from_security_group_id(
            self, "GpuNodes", efa.group_id
        )
        self.role = node_role(
            self,
            "Role",
            description=f"GPU nodes of {plan.name}",
            tags=plan.tags,
            for_vpc_cni=plan.vpc_cni_uses_node_role,
        )
        let_nodes_join(self, known_by, self.role)
        self.placement_group = self._placement_group()
        self.prefill, self.decode = (
            PhaseNodeGroup(
                self,
                phase.name,
                nodes=phase.nodes,
                template=launch_template_data(
                    phase.nodes,
                    security_group_ids=groups,
                    placement_group_name=self._placement_group_name(phase.nodes),
                    user_data=user_data[phase.name],
                ),
                cluster_name=known.name,
                subnet_id=nodes_subnet,
                node_role_arn=self.role.role_arn,
            )
            for phase in plan.phases
        )
        for group in (self.prefill, self.decode):
            # A node that starts before the rules are there has no EFA.
            group.node.add_dependency(*efa.rules)
            # Nor does it join without a way to the cluster's endpoint.
            if not isinstance(subnet, ExistingSubnet):
                group.node.add_dependency(subnet.internet_connectivity_established)
        report_warnings(self, of_the_deployment(plan))
        self._place = place  # last, so that a construct that was refused is not in the way of the next

    def _placement_group(self) -> aws_ec2.CfnPlacementGroup | None:
        if not any(phase.nodes.capacity.new_placement_group for phase in self.plan.phases):
            return None
        group = aws_ec2.CfnPlacementGroup(self, "PlacementGroup", strategy="cluster")
        # CloudFormation makes it anew when a tag changes, and every node with it. It costs nothing, no bill misses it.
        group.add_property_deletion_override("Tags")
        return group

    def _placement_group_name(self, nodes: NodeGroupPlan) -> str | None:
        if nodes.capacity.new_placement_group and self.placement_group is not None:
            return self.placement_group.attr_group_name
        return nodes.capacity.placement_group_name


def _security_group_ids(construct: Construct, own: Sequence[str], more: Sequence[aws_ec2.ISecurityGroup]) -> list[str]:
    """Return the ids of all security groups, each once."""
    if not isinstance(more, list | tuple) or not all(hasattr(group, "security_group_id") for group in more):
        raise refusal(
            SECURITY_GROUPS,
            construct.node,
            "security_groups is not a list of security groups",
            "pass a list of ISecurityGroup; SecurityGroup.from_security_group_id makes one of an id",
        )
    others = [require_form(construct, SECURITY_GROUP_ID, group.security_group_id) for group in more]
    ids = list(dict.fromkeys([*own, *others]))
    if len(ids) > MAX_SECURITY_GROUPS:
        raise refusal(
            SECURITY_GROUPS,
            construct.node,
            f"{len(ids)} security groups, a network interface has at most {MAX_SECURITY_GROUPS}",
            f"pass {MAX_SECURITY_GROUPS - len(own)} or fewer beside the cluster's and the one for EFA; where AWS has "
            "raised the quota, add the others to the launch template with add_property_override",
        )
    return ids
