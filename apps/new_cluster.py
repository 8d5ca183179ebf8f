"""The CDK stacks of a deployment from an empty account: network, cluster, add-ons, GPU nodes, and the workload.

Each stack needs the one before it, so deploying one deploys those that it needs: `cdk deploy qwen35-9b-gpu-nodes` all
but the workload, `cdk deploy qwen35-9b-workload` everything.
"""

from aws_cdk import App, Aws, CfnOutput, CfnParameter, Environment, Stack, aws_eks_v2
from cdk8s import App as ManifestApp
from k8s_app import DeploymentChart

from constructs_pd import DeploymentPlan, EksAddOns, EksCluster, EksGpuNodeGroups, EksNetwork
from constructs_pd.aws.admins import PRINCIPAL_ARN


class NetworkStack(Stack):
    """The VPC."""

    def __init__(self, app: App, plan: DeploymentPlan) -> None:
        super().__init__(
            app, f"{plan.name}-network", env=_environment(plan), description=f"Network of the cluster for {plan.name}"
        )
        self.network = EksNetwork(self, "network", plan=plan)
        CfnOutput(self, "VpcId", value=self.network.vpc_id)
        CfnOutput(self, "GpuSubnetId", value=self.network.gpu_subnet.subnet_id)


class ClusterStack(Stack):
    """The cluster with its own nodes, and what EKS manages in it."""

    def __init__(self, app: App, plan: DeploymentPlan, network: NetworkStack) -> None:
        super().__init__(
            app, f"{plan.name}-cluster", env=_environment(plan), description=f"EKS cluster for {plan.name}"
        )
        self.add_stack_dependency(network)
        admin = CfnParameter(
            self,
            "AdminArn",
            type="String",
            description="ARN of the IAM role or user who administers the cluster",
            allowed_pattern=PRINCIPAL_ARN,
            constraint_description="an IAM role or user, such as arn:aws:iam::111122223333:role/admin",
        )
        self.cluster = EksCluster(
            self, "cluster", plan=plan, network=network.network, admin_arns=[admin.value_as_string]
        )
        name = self.cluster.cluster.cluster_name
        CfnOutput(self, "Kubeconfig", value=f"aws eks update-kubeconfig --region {Aws.REGION} --name {name}")


class AddOnsStack(Stack):
    """Operators, device plugins and the balancer's controller. They come before the GPU nodes, which cost more."""

    def __init__(self, app: App, plan: DeploymentPlan, cluster: ClusterStack) -> None:
        super().__init__(
            app, f"{plan.name}-add-ons", env=_environment(plan), description=f"Add-ons of the cluster for {plan.name}"
        )
        self.add_stack_dependency(cluster)
        EksAddOns(self, "add-ons", plan=plan, cluster=cluster.cluster)


class NewGpuNodesStack(Stack):
    """The GPU nodes of one deployment, in the new cluster."""

    def __init__(self, app: App, plan: DeploymentPlan, cluster: ClusterStack, add_ons: AddOnsStack) -> None:
        super().__init__(
            app,
            f"{plan.name}-gpu-nodes",
            env=_environment(plan),
            description=f"GPU nodes of {plan.name}, for prefill and for decode",
        )
        self.add_stack_dependency(add_ons)
        EksGpuNodeGroups(
            self, "gpu-nodes", plan=plan, cluster=cluster.cluster, subnet=cluster.cluster.network.gpu_subnet
        )


class WorkloadStack(Stack):
    """What `kubectl apply -f dist/` would apply: the manifests of the cdk8s app, through the CDK."""

    def __init__(self, app: App, plan: DeploymentPlan, cluster: ClusterStack, nodes: NewGpuNodesStack) -> None:
        super().__init__(
            app, f"{plan.name}-workload", env=_environment(plan), description=f"The Kubernetes objects of {plan.name}"
        )
        self.add_stack_dependency(nodes)
        aws_eks_v2.KubernetesManifest(
            self,
            "workload",
            cluster=cluster.cluster.cluster,
            manifest=DeploymentChart(ManifestApp(), plan).to_json(),
            overwrite=True,  # so that a creation that was interrupted can be taken up again
        )


def new_cluster(app: App, plan: DeploymentPlan) -> None:
    """Add every stack to the app."""
    cluster = ClusterStack(app, plan, NetworkStack(app, plan))
    add_ons = AddOnsStack(app, plan, cluster)
    nodes = NewGpuNodesStack(app, plan, cluster, add_ons)
    WorkloadStack(app, plan, cluster, nodes)


def _environment(plan: DeploymentPlan) -> Environment:
    return Environment(region=plan.region)
