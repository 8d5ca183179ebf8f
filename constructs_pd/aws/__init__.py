"""AWS CDK constructs: they render what a plan says, and decide nothing."""

try:
    import aws_cdk  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"the AWS constructs need {error.name}: pip install 'constructs-pd[aws]'", name=error.name
    ) from None

from constructs_pd.aws.eks_add_ons import EksAddOns
from constructs_pd.aws.eks_cluster import EksCluster
from constructs_pd.aws.eks_gpu_node_groups import EksGpuNodeGroups
from constructs_pd.aws.eks_network import EksNetwork
from constructs_pd.aws.existing import ExistingCluster, ExistingSubnet

__all__ = ["EksAddOns", "EksCluster", "EksGpuNodeGroups", "EksNetwork", "ExistingCluster", "ExistingSubnet"]
