"""Somebody else's CDK app: a platform team imports its EKS cluster and adds GPU nodes to it.

Shows the construct beside resources that are not this library's: here a security group of a shared file system, which
lets the GPU nodes in. Run it with `cdk synth --app "python apps/platform_app.py"`. The ids are examples.
"""

from pathlib import Path

from aws_cdk import App, Environment, Stack, aws_ec2, aws_eks_v2
from constructs import Construct

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, plan_or_exit

SPECIFICATION = Path(__file__).with_name("existing_cluster.yaml")
ACCOUNT = "123456789012"
NFS = aws_ec2.Port.tcp(2049)


class PlatformStack(Stack):
    """A team's own stack, with its own resources."""

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id, env=Environment(account=ACCOUNT, region=plan.region))
        vpc = aws_ec2.Vpc.from_vpc_attributes(
            self,
            "Vpc",
            vpc_id="vpc-0123456789abcdef0",
            availability_zones=["us-west-2a", "us-west-2b"],
            private_subnet_ids=["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        )
        cluster = aws_eks_v2.Cluster.from_cluster_attributes(
            self,
            "Cluster",
            cluster_name="platform",
            cluster_security_group_id="sg-0123456789abcdef0",
            vpc=vpc,
        )
        gpu_nodes = EksGpuNodeGroups(
            self,
            "GpuNodes",
            plan=plan,
            cluster=cluster,
            subnet=vpc.private_subnets[0],
        )
        file_system = aws_ec2.SecurityGroup(
            self, "FileSystem", vpc=vpc, description="The shared model cache", allow_all_outbound=False
        )
        file_system.add_ingress_rule(gpu_nodes.security_group, NFS, "GPU nodes read the model cache")


def main() -> None:
    """Plan first: on errors nothing is written and the program ends with status 1."""
    app = App()
    PlatformStack(app, "platform", plan=plan_or_exit(SPECIFICATION))
    app.synth()


if __name__ == "__main__":
    main()
