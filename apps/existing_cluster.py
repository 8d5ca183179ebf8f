"""The CDK stack of a deployment's GPU nodes, for an EKS cluster that exists.

What is not known before the stack is deployed are its parameters: the cluster, its security group and VPC, and the
nodes' subnet.
"""

from aws_cdk import CfnOutput, CfnParameter, CfnRule, CfnRuleAssertion, Environment, Fn, Stack
from constructs import Construct

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, ExistingCluster, ExistingSubnet
from constructs_pd.planning.zones import is_zone_id


class GpuNodesStack(Stack):
    """The GPU nodes of one deployment."""

    def __init__(self, scope: Construct, plan: DeploymentPlan) -> None:
        super().__init__(
            scope,
            f"{plan.name}-gpu-nodes",
            env=Environment(region=plan.region),
            description=f"GPU nodes of {plan.name}, for prefill and for decode",
        )
        name = self._parameter("ClusterName", "String", "name of the EKS cluster")
        security_group = self._parameter(
            "ClusterSecurityGroupId", "AWS::EC2::SecurityGroup::Id", "the security group that EKS made for the cluster"
        )
        vpc = self._parameter("VpcId", "AWS::EC2::VPC::Id", "the cluster's VPC")
        subnet = self._parameter(
            "SubnetId", "AWS::EC2::Subnet::Id", f"the private subnet of the GPU nodes, in {plan.availability_zone}"
        )
        self._refuse_wrong_subnets(plan)
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

    def _refuse_wrong_subnets(self, plan: DeploymentPlan) -> None:
        """Have CloudFormation refuse them before it creates anything. It knows zones by name only."""
        self._require_of_subnet("VpcId", Fn.ref("VpcId"), "SubnetId must lie in VpcId")
        if not is_zone_id(plan.availability_zone):
            zone = plan.availability_zone
            self._require_of_subnet("AvailabilityZone", zone, f"SubnetId must lie in {zone}")

    def _require_of_subnet(self, attribute: str, value: str, description: str) -> None:
        known = Fn.value_of_all("AWS::EC2::Subnet::Id", attribute)
        assertion = CfnRuleAssertion(
            assert_=Fn.condition_each_member_equals(known, value), assert_description=description
        )
        CfnRule(self, f"Subnet{attribute}", assertions=[assertion])
