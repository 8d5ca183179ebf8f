"""The security group of GPU nodes: whatever has it may speak to whatever has it, in every protocol."""

from __future__ import annotations

from collections.abc import Mapping

from aws_cdk import aws_ec2
from constructs import Construct

from constructs_pd.aws.tags import tag_list

ALL_TRAFFIC = "-1"
ANYWHERE = "0.0.0.0/0"


class EfaSecurityGroup(Construct):
    """A security group with all traffic from and to itself, and to everywhere.

    EFA's traffic is not IP, so the rule to everywhere does not cover it, and a rule to the group itself must stand
    beside it (EC2 User Guide, Get started with EFA; gardener/gardener-extension-provider-aws#1832). The CDK's L2
    SecurityGroup drops such a rule (aws/aws-cdk#38558), hence these L1 resources.

    Attributes:
        group_id: The group's id.
        rules: The rules that it must have before a node starts.
    """

    def __init__(self, scope: Construct, id: str, *, vpc_id: str, deployment: str, tags: Mapping[str, str]) -> None:
        super().__init__(scope, id)
        group = aws_ec2.CfnSecurityGroup(
            self,
            "Resource",
            group_description=f"EFA between the GPU nodes of {deployment}",
            vpc_id=vpc_id,
            security_group_egress=[
                aws_ec2.CfnSecurityGroup.EgressProperty(
                    ip_protocol=ALL_TRAFFIC, cidr_ip=ANYWHERE, description="IP to everywhere"
                )
            ],
            tags=tag_list(tags),
        )
        self.group_id = group.attr_group_id
        self.rules = (
            aws_ec2.CfnSecurityGroupIngress(
                self,
                "FromSelf",
                group_id=self.group_id,
                ip_protocol=ALL_TRAFFIC,
                source_security_group_id=self.group_id,
                description="EFA and everything else from the same group",
            ),
            aws_ec2.CfnSecurityGroupEgress(
                self,
                "ToSelf",
                group_id=self.group_id,
                ip_protocol=ALL_TRAFFIC,
                destination_security_group_id=self.group_id,
                description="EFA to the same group",
            ),
        )
