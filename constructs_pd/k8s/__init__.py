"""cdk8s constructs: they render what a plan says, and decide nothing."""

try:
    import cdk8s  # noqa: F401
    import cdk8s_plus_28  # noqa: F401
except ModuleNotFoundError as error:
    raise ImportError(
        f"the Kubernetes constructs need {error.name}: pip install 'constructs-pd[k8s]'", name=error.name
    ) from None

from constructs_pd.k8s.deployment_monitoring import DeploymentMonitoring
from constructs_pd.k8s.deployment_namespace import DeploymentNamespace
from constructs_pd.k8s.gateway_namespace import GatewayNamespace
from constructs_pd.k8s.openai_endpoint import OpenAIEndpoint
from constructs_pd.k8s.prefill_decode_service import PrefillDecodeService
from constructs_pd.k8s.ray_llm_cluster import RayLlmCluster

__all__ = [
    "DeploymentMonitoring",
    "DeploymentNamespace",
    "GatewayNamespace",
    "OpenAIEndpoint",
    "PrefillDecodeService",
    "RayLlmCluster",
]
