"""The node group of a cluster's own pods."""

from __future__ import annotations

from collections.abc import Sequence

from aws_cdk import aws_ec2, aws_eks_v2
from constructs import Construct

from constructs_pd.aws.launch_template import TAGGED, root_device
from constructs_pd.aws.tags import tag_list
from constructs_pd.planning.cluster_plan import SystemNodesPlan


class SystemNodeGroup(Construct):
    """A launch template and a managed node group in all private subnets. `node.default_child` is the node group."""

    def __init__(
        self,
        scope: Construct,
        id: str,
        *,
        nodes: SystemNodesPlan,
        cluster_name: str,
        subnet_ids: Sequence[str],
        node_role_arn: str,
    ) -> None:
        super().__init__(scope, id)
        template = aws_ec2.CfnLaunchTemplate(
            self,
            "LaunchTemplate",
            launch_template_data=aws_ec2.CfnLaunchTemplate.LaunchTemplateDataProperty(
                block_device_mappings=[root_device(nodes.root_volume)],
                metadata_options=aws_ec2.CfnLaunchTemplate.MetadataOptionsProperty(
                    http_endpoint="enabled",
                    http_tokens="required",
                    http_put_response_hop_limit=nodes.metadata_hop_limit,
                ),
                tag_specifications=[
                    aws_ec2.CfnLaunchTemplate.TagSpecificationProperty(resource_type=kind, tags=tag_list(nodes.tags))
                    for kind in TAGGED
                ],
            ),
        )
        aws_eks_v2.CfnNodegroup(
            self,
            "Resource",
            cluster_name=cluster_name,
            node_role=node_role_arn,
            subnets=list(subnet_ids),
            instance_types=[nodes.instance_type],
            ami_type=nodes.ami_type,
            version=nodes.kubernetes_version,
            launch_template=aws_eks_v2.CfnNodegroup.LaunchTemplateSpecificationProperty(
                id=template.ref, version=template.attr_latest_version_number
            ),
            scaling_config=aws_eks_v2.CfnNodegroup.ScalingConfigProperty(
                min_size=nodes.count, desired_size=nodes.count, max_size=nodes.count
            ),
            update_config=aws_eks_v2.CfnNodegroup.UpdateConfigProperty(max_unavailable=nodes.max_unavailable_nodes),
            labels=nodes.labels,
            tags=nodes.tags,
        )
