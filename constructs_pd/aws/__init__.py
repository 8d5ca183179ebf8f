"""AWS CDK constructs: they render what a plan says, and decide nothing."""

try:
    import aws_cdk  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"the AWS constructs need {error.name}: pip install 'constructs-pd[aws]'", name=error.name
    ) from None

from constructs_pd.aws.eks_gpu_node_groups import EksGpuNodeGroups
from constructs_pd.aws.existing import ExistingCluster, ExistingSubnet

__all__ = ["EksGpuNodeGroups", "ExistingCluster", "ExistingSubnet"]
