"""The CDK app of a deployment's GPU nodes, for an EKS cluster that exists: `cdk synth` and `cdk deploy` run it.

The specification is apps/reference.yaml, or the file that CONSTRUCTS_PD_SPEC names. What is not known before the stack
is deployed are its parameters: the cluster, its security group and VPC, and the nodes' subnet.
"""

import os
from pathlib import Path

from aws_cdk import App, CfnOutput, CfnParameter, CfnRule, CfnRuleAssertion, Environment, Fn, Stack
from constructs import Construct

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, ExistingCluster, ExistingSubnet, plan_or_exit
from constructs_pd.planning.zones import is_zone_id

REFERENCE = Path(__file__).with_name("reference.yaml")


class GpuNodesStack(Stack):
    """The GPU nodes of one deployment."""

    def __init__(self, scope: Construct, plan: DeploymentPlan) -> None:
        super().__init__(
            scope,
            f"{plan.name}-gpu-nodes",
            env=Environment(region=plan.region),
            description=f"GPU nodes of {plan.name}: prefill and decode on {plan.model.source}",
        )
        name = self._parameter("ClusterName", "String", "name of the EKS cluster")
        security_group = self._parameter(
            "ClusterSecurityGroupId", "AWS::EC2::SecurityGroup::Id", "the security group that EKS made for the cluster"
        )
        vpc = self._parameter("VpcId", "AWS::EC2::VPC::Id", "the cluster's VPC")
        subnet = self._parameter(
            "SubnetId", "AWS::EC2::Subnet::Id", f"the private subnet of the GPU nodes, in {plan.availability_zone}"
        )
        self._require_zone(plan)
        nodes = EksGpuNodeGroups(
            self,
            "gpu-nodes",
            plan=plan,
            cluster=ExistingCluster(name=name, security_group_id=security_group, vpc_id=vpc),
            subnet=ExistingSubnet(subnet_id=subnet, availability_zone=plan.availability_zone),
        )
        CfnOutput(self, "PrefillNodeGroup", value=nodes.prefill.node_group_name)
        CfnOutput(self, "DecodeNodeGroup", value=nodes.decode.node_group_name)
        CfnOutput(self, "NodeRoleArn", value=nodes.role.role_arn)

    def _parameter(self, name: str, kind: str, description: str) -> str:
        return CfnParameter(self, name, type=kind, description=description).value_as_string

    def _require_zone(self, plan: DeploymentPlan) -> None:
        """Have CloudFormation refuse a subnet of another zone before it creates anything; it knows zones by name."""
        if not is_zone_id(plan.availability_zone):
            CfnRule(
                self,
                "SubnetInTheZone",
                assertions=[
                    CfnRuleAssertion(
                        assert_=Fn.condition_each_member_equals(
                            Fn.value_of_all("AWS::EC2::Subnet::Id", "AvailabilityZone"), plan.availability_zone
                        ),
                        assert_description=f"SubnetId must lie in {plan.availability_zone}",
                    )
                ],
            )


def main() -> None:
    """Plan first: on errors nothing is written and the program ends with status 1."""
    plan = plan_or_exit(os.environ.get("CONSTRUCTS_PD_SPEC", REFERENCE))
    app = App()
    GpuNodesStack(app, plan)
    app.synth()


if __name__ == "__main__":
    main()
