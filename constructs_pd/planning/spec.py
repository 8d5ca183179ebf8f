"""What a user states: one model, two phases, one endpoint.

A field's description is also what an error message says is expected there. Defaults that need no arithmetic stand
here; those that depend on other facts are `None` here and decided once, by `plan()`.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from constructs_pd.findings import Acknowledge
from constructs_pd.planning.catalog.rows import ImageRow, InstanceRow, ModelRow
from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_balancer import Balancer
from constructs_pd.planning.spec_cluster import NewCluster
from constructs_pd.planning.spec_gateway import Gateway
from constructs_pd.planning.spec_monitoring import Monitoring, Slo
from constructs_pd.planning.spec_network_policy import NetworkPolicy
from constructs_pd.planning.spec_nodes import Nodes
from constructs_pd.planning.spec_observability import Logs, Tracing
from constructs_pd.planning.spec_pods import Head, ModelCache, Phase, SecretReference, SinglePodBudget
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.spec_types import LabelKey, LabelValue, ObjectNames, SubnetId


class Model(FrozenModel):
    """The one model that both phases serve. What must be equal on both sides is stated here, once.

    vLLM refuses a hand-over between engines that differ in model, data type or KV cache type (its compatibility hash,
    vLLM 0.26.0), so these are fields of the model and not of a phase.
    """

    source: Annotated[
        str,
        Field(
            pattern=r"^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$",
            description="the Hugging Face id of the weights, such as Qwen/Qwen3.5-9B",
        ),
    ]
    served_name: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$",
        description="the `model` that clients send; default: the last part of source, in lower case",
    )
    max_model_len: int | None = Field(
        default=None,
        ge=1,
        description="the longest prompt plus output, in tokens, at least 1; default: what the model was trained for",
    )
    dtype: Literal["auto", "bfloat16", "float16"] = Field(
        default="auto", description="the type of weights and activations: auto (the checkpoint's), bfloat16 or float16"
    )
    kv_cache_dtype: Literal["auto", "bfloat16", "fp8", "fp8_e4m3", "fp8_e5m2"] = Field(
        default="auto", description="the type of the KV cache: auto (as dtype), bfloat16, fp8, fp8_e4m3 or fp8_e5m2"
    )


class Image(FrozenModel):
    """The ray-llm container image, the same for head, prefill and decode."""

    registry: Literal["private", "public"] = Field(
        default="private",
        description=(
            "private: AWS's registry in the deployment's own region, without the internet; public: public.ecr.aws"
        ),
    )

    tag: str = Field(
        default="serve-llm-cuda-v1.0.0", description="a tag of AWS's ray-llm image, such as serve-llm-cuda-v1.0.0"
    )
    digest: str | None = Field(
        default=None,
        pattern=r"^sha256:[0-9a-f]{64}$",
        description="the image's digest, sha256: and 64 hexadecimal digits, to pin its content as well",
    )
    pull_secrets: ObjectNames = Field(default=(), description="names of image pull Secrets in the namespace")


class GcsFaultTolerance(FrozenModel):
    """Keeps the state of Ray's control plane in Redis, so that the service outlives a restart of the head."""

    redis_address: str = Field(
        pattern=r"^(rediss?://)?[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?:([1-9]\d{0,3}|[1-5]\d{4}|6[0-4]\d{3}|65[0-4]\d{2}|655[0-2]\d|6553[0-5])$",
        description="the address of a Redis that outlives the head, host:port or rediss://host:port",
    )
    redis_password: SecretReference | None = Field(
        default=None, description="a reference to the password: {secret_name: ..., key: ...}"
    )
    redis_username: SecretReference | None = Field(
        default=None, description="a reference to the user's name, where it is not the default user"
    )
    storage_namespace: LabelValue | None = Field(
        default=None,
        description="the name under which Redis keeps this deployment's state; default: the cluster's UID",
    )


class Upgrade(FrozenModel):
    """What KubeRay does when the cluster's specification changes."""

    strategy: Literal["none", "new_cluster"] = Field(
        default="none",
        description="none: changes of pods are not rolled out; new_cluster: a second cluster beside the first, "
        "which needs twice the GPU nodes",
    )


class Endpoint(FrozenModel):
    """How clients reach the deployment."""

    exposure: Literal["cluster", "internal_alb", "internet_alb"] = Field(
        default="cluster",
        description="cluster: inside the cluster only; internal_alb: also an internal load balancer; internet_alb: "
        "also one on the internet, with a certificate and authentication",
    )
    subnet_ids: Annotated[tuple[SubnetId, ...], Field(strict=False)] = Field(
        default=(),
        description=(
            "subnet ids (subnet-...) of the load balancer, in two zones or more; default: those tagged "
            "kubernetes.io/role/internal-elb, or kubernetes.io/role/elb for internet_alb"
        ),
    )
    balancer: Balancer = Balancer()
    longest_generation_seconds: int = Field(
        default=600,
        ge=1,
        le=3540,
        description="how long an answer may take from the request to its last token, 1 to 3540 seconds; longer ones "
        "are ended, and every time limit of the endpoint is derived from it",
    )
    idle_timeout_seconds: int | None = Field(
        default=None,
        ge=1,
        le=4000,
        description=(
            "the longest silence on a connection, 1 to 4000 seconds; an answer that is not streamed is silent until "
            "it is whole; default: 10 more than longest_generation_seconds"
        ),
    )
    conformance_job: bool = Field(
        default=False,
        description="true: a Job checks the endpoint with the conformance suite once it is ready; or false",
    )
    gateway: Gateway | None = Field(
        default=None,
        description="HAProxy that asks for API keys: {api_keys_secret: ..., image: ...}; default: none, nothing does",
    )


class DeploymentSpec(FrozenModel):
    """One large language model, served with prefill and decode on separate nodes."""

    name: str = Field(
        description="a name that no other has in the EKS cluster: at most 47 lower-case letters, digits and '-'"
    )
    namespace: str = Field(default="inference", description="the Kubernetes namespace")
    region: str = Field(
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="the AWS region, by its code, such as us-west-2"
    )
    availability_zone: str = Field(
        description="the one zone of all GPU nodes, by name (us-west-2a) or id (usw2-az1): EFA does not cross zones"
    )
    model: Model
    prefill: Phase
    decode: Phase
    head: Head = Head()
    nodes: Nodes = Nodes()
    endpoint: Endpoint = Endpoint()
    eks_cluster: NewCluster | None = Field(
        default=None,
        description="an EKS cluster to make for the deployment, with its network: {other_zones: [...]}; default: none, "
        "it runs in one that exists",
    )
    image: Image = Image()
    kubernetes_version: str = Field(
        default="1.35",
        pattern=r"^1\.\d+$",
        description='the EKS version in quotes, such as "1.35": without them YAML reads 1.30 as the number 1.3',
    )
    kuberay_version: str = Field(default="1.7.0", description="the version of the KubeRay operator, such as 1.7.0")
    hugging_face_token: SecretReference | None = Field(
        default=None, description="a reference to the token for gated models: {secret_name: ..., key: ...}"
    )
    model_cache: ModelCache | None = Field(
        default=None, description="a shared volume for weights: {claim_name: ..., mount_path: ...}"
    )
    gcs_fault_tolerance: GcsFaultTolerance | None = Field(
        default=None, description="Redis for Ray's control plane: {redis_address: ..., redis_password: ...}"
    )
    traffic: Traffic | None = Field(
        default=None,
        description="the requests that are to be served, of which the links are then found able or not: "
        "{requests_per_second: ..., prompt_tokens: ...}",
    )
    upgrade: Upgrade = Upgrade()
    single_pod_budget: SinglePodBudget = Field(
        default="block",
        description=(
            "for a group of one pod, block: a disruption budget that no node upgrade gets past; none: no budget, a "
            "node upgrade stops the service while the pod moves; head, prefill and decode can say it for themselves"
        ),
    )
    network_policy: NetworkPolicy | None = Field(
        default=None,
        description="network policies that deny the pods what they do not need: {client_namespaces: [...]}; default: "
        "none, as they need something in the cluster that enforces them",
    )
    monitoring: Monitoring | None = Field(
        default=None,
        description="scraping, recording rules and alerts per phase, written to dist/monitoring/: {labels: {...}}; "
        "default: none",
    )
    slo: Slo | None = Field(
        default=None,
        description="what clients were promised, which alerts watch over and `traffic` is held to: "
        "{ttft_p95_seconds: ..., itl_p95_seconds: ..., availability: ...}; default: nothing",
    )
    ray_authentication: Literal["none", "token"] = Field(
        default="none",
        description="none; or token: Ray's dashboard and control plane ask for a token that KubeRay makes. KubeRay "
        "refuses Kubernetes' own tokens (enableK8sTokenAuth) for a RayService",
    )
    tracing: Tracing | None = Field(
        default=None, description="spans of Ray Serve and vLLM by OTLP: {otlp_endpoint: ...}; default: none are made"
    )
    logs: Logs = Logs()
    privileged_workers: bool = Field(
        default=False, description="whether worker containers run privileged: true or false; IPC_LOCK is added anyway"
    )
    initializing_timeout_seconds: int | None = Field(
        default=None,
        ge=1800,
        le=604800,
        description=(
            "after how many seconds, 1800 to 604800, KubeRay gives a service up that has not started, for good; "
            "default: never"
        ),
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="more labels for every object but the Namespace")
    service_account_annotations: dict[LabelKey, str] = Field(
        default={}, description="annotations of the pods' ServiceAccount, such as an IAM role"
    )
    drain_seconds: int | None = Field(
        default=None,
        ge=45,
        le=3600,
        description="how long a stopping node may finish its requests, 45 to 3600 seconds; default: 40 more than "
        "endpoint.longest_generation_seconds",
    )
    acknowledge: Annotated[tuple[Acknowledge, ...], Field(strict=False)] = Field(
        default=(), description="accepted warnings, a list of {code: ..., reason: ...}"
    )
    custom_instances: Annotated[tuple[InstanceRow, ...], Field(strict=False)] = Field(
        default=(), description="a list of instance types that the catalogue lacks, with their numbers"
    )
    custom_models: Annotated[tuple[ModelRow, ...], Field(strict=False)] = Field(
        default=(), description="a list of models that the catalogue lacks, with their facts"
    )
    custom_images: Annotated[tuple[ImageRow, ...], Field(strict=False)] = Field(
        default=(), description="a list of image tags that the catalogue lacks, with their versions"
    )
