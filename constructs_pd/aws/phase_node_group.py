"""The managed node group of one phase."""

from __future__ import annotations

from typing import Final

from aws_cdk import aws_ec2, aws_eks
from constructs import Construct

from constructs_pd.aws.tags import tag_list
from constructs_pd.planning.node_plan import NodeGroupPlan

# Kubernetes' names of taint effects, as EKS writes them.
EFFECTS: Final = {"NoSchedule": "NO_SCHEDULE"}


class PhaseNodeGroup(Construct):
    """A launch template and the node group that uses it.

    The L2 Nodegroup refuses newer instance names and takes a dead AMI type for GPUs (aws/aws-cdk#12389, #29546), and
    the L2 LaunchTemplate knows neither network interfaces nor reservations; so both are L1. `node.default_child` is
    the node group, `launch_template` the template.

    Attributes:
        launch_template: The launch template.
        node_group_name: Name of the node group.
    """

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        nodes: NodeGroupPlan,
        template: aws_ec2.CfnLaunchTemplate.LaunchTemplateDataProperty,
        cluster_name: str,
        subnet_id: str,
        node_role_arn: str,
    ) -> None:
        super().__init__(scope, id)
        self.launch_template = aws_ec2.CfnLaunchTemplate(
            self,
            "LaunchTemplate",
            launch_template_data=template,
            tag_specifications=[
                aws_ec2.CfnLaunchTemplate.LaunchTemplateTagSpecificationProperty(
                    resource_type="launch-template", tags=tag_list(nodes.tags)
                )
            ],
        )
        group = aws_eks.CfnNodegroup(
            self,
            "Resource",
            cluster_name=cluster_name,
            node_role=node_role_arn,
            subnets=[subnet_id],
            capacity_type=nodes.capacity.type,
            instance_types=[nodes.instance_type] if nodes.instance_type_in == "node_group" else None,
            ami_type=nodes.ami.type,
            version=nodes.ami.kubernetes_version,
            release_version=nodes.ami.release_version,
            launch_template=aws_eks.CfnNodegroup.LaunchTemplateSpecificationProperty(
                id=self.launch_template.ref, version=self.launch_template.attr_latest_version_number
            ),
            scaling_config=aws_eks.CfnNodegroup.ScalingConfigProperty(
                min_size=nodes.min_nodes, desired_size=nodes.desired_nodes, max_size=nodes.max_nodes
            ),
            update_config=aws_eks.CfnNodegroup.UpdateConfigProperty(
                max_unavailable=nodes.max_unavailable_nodes, update_strategy=nodes.capacity.update_strategy
            ),
            labels=nodes.labels,
            taints=[
                aws_eks.CfnNodegroup.TaintProperty(key=taint.key, value=taint.value, effect=EFFECTS[taint.effect])
                for taint in nodes.taints
            ],
            tags=nodes.tags,
        )
        self.node_group_name = group.attr_nodegroup_name
