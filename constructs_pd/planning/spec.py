"""What a user states: one model, two phases, one endpoint.

A field's description is also what an error message says is expected there. Defaults that need no arithmetic stand
here; those that depend on other facts are `None` here and decided once, by `plan()`.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, JsonValue, model_validator
from pydantic_core import PydanticCustomError

from constructs_pd.findings import Acknowledge
from constructs_pd.planning.catalog.rows import ImageRow, InstanceRow, ModelRow
from constructs_pd.planning.model_base import FrozenModel

# RFC 1123 subdomain, what Kubernetes accepts as the name of a Secret or a claim.
ObjectName = Annotated[str, Field(max_length=253, pattern=r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$")]
# Kubernetes label syntax: an optional DNS prefix and a name; a value may be empty.
LabelKey = Annotated[
    str,
    Field(max_length=317, pattern=r"^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"),
]
LabelValue = Annotated[str, Field(pattern=r"^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$")]
# C identifier, what Kubernetes and a shell both accept.
EnvironmentName = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]
SubnetId = Annotated[str, Field(pattern=r"^subnet-[0-9a-f]{8}([0-9a-f]{9})?$")]
AbsolutePath = Annotated[str, Field(pattern=r"^(/[A-Za-z0-9._-]*[A-Za-z0-9_-])+$")]


class SecretReference(FrozenModel):
    """A value that stays in a Kubernetes Secret; only its address is ever written."""

    secret_name: Annotated[
        ObjectName,
        Field(description="the name of a Secret in the namespace: lower-case letters, digits, '-' and '.'"),
    ]
    key: Annotated[
        str,
        Field(
            pattern=r"^[-._a-zA-Z0-9]{1,253}$",
            description="the key inside the Secret: letters, digits, '-', '_' and '.'",
        ),
    ] = "token"

    @model_validator(mode="before")
    @classmethod
    def _refuse_literal(cls, value: Any) -> Any:
        if isinstance(value, str):
            raise PydanticCustomError("literal_secret", "a secret is given literally instead of by reference")
        return value


class ModelCache(FrozenModel):
    """A shared volume for downloaded weights, mounted on the head and on every worker.

    Without it every replica downloads the model into its container's file system at each start, and many replicas at
    once can exhaust the hub's rate limit.
    """

    claim_name: Annotated[
        ObjectName,
        Field(description="a PersistentVolumeClaim in the deployment's namespace that several nodes can mount"),
    ]
    mount_path: Annotated[
        AbsolutePath, Field(description="the absolute path of the volume in the containers, such as /models")
    ] = "/models"


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


class Pod(FrozenModel):
    """What a user adds to the pods of the head or of a phase. What the planner owns is refused here."""

    environment: dict[EnvironmentName, str] = Field(
        default={}, description="environment variables with literal values, as text; secrets go to secret_environment"
    )
    secret_environment: dict[EnvironmentName, SecretReference] = Field(
        default={}, description="environment variables from Secrets: NAME: {secret_name: ..., key: ...}"
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="more pod labels, in Kubernetes' label syntax")
    annotations: dict[LabelKey, str] = Field(default={}, description="pod annotations, values as text")
    priority_class: ObjectName | None = Field(default=None, description="the name of a PriorityClass")


class Phase(FrozenModel):
    """One phase of inference: which nodes, how many, and how the engine on them is tuned."""

    instance_type: str = Field(
        description="the EC2 instance type of this phase's nodes, such as g6.8xlarge; a pod takes a whole node"
    )
    replicas: int = Field(
        default=1, ge=1, le=1000, description="the engines of this phase, each on a node of its own: 1 to 1000"
    )
    tensor_parallel: int | None = Field(
        default=None, ge=1, description="the GPUs of one engine, at least 1; default: every GPU of the node"
    )
    max_num_seqs: int | None = Field(
        default=None, ge=1, description="the most sequences in one engine step, at least 1; default: vLLM's"
    )
    max_num_batched_tokens: int | None = Field(
        default=None, ge=1, description="the most tokens in one engine step, at least 1; default: vLLM's"
    )
    gpu_memory_utilization: float | None = Field(
        default=None,
        gt=0,
        le=1,
        allow_inf_nan=False,
        description="the fraction of GPU memory that vLLM may use, above 0, at most 1; default: vLLM's, 0.92 in 0.26.0",
    )
    enforce_eager: bool = Field(
        default=False, description="true: no CUDA graphs, which costs decode speed and saves memory; or false"
    )
    engine_args: dict[str, JsonValue] = Field(
        default={}, description="more vLLM engine arguments by their names in the image's vLLM, such as block_size"
    )
    max_nodes: int | None = Field(
        default=None,
        ge=1,
        le=2000,
        description="the most nodes that this phase's node group may have, at least replicas; default: replicas",
    )
    pod: Pod = Pod()


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
    pull_secrets: Annotated[tuple[ObjectName, ...], Field(strict=False)] = Field(
        default=(), description="names of image pull Secrets in the namespace"
    )


class Toleration(FrozenModel):
    """A taint of CPU nodes that the head accepts."""

    key: LabelKey = Field(description="the taint's key")
    value: LabelValue | None = Field(default=None, description="the taint's value; default: any")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(
        default="NoSchedule", description="the taint's effect: NoSchedule, NoExecute or PreferNoSchedule"
    )


class GcsFaultTolerance(FrozenModel):
    """Keeps the state of Ray's control plane in Redis, so that the service outlives a restart of the head."""

    redis_address: str = Field(
        pattern=r"^(rediss?://)?[A-Za-z0-9.-]+:\d{1,5}$",
        description="the address of a Redis that outlives the head, host:port or rediss://host:port",
    )
    redis_password: SecretReference | None = Field(
        default=None, description="a reference to the password: {secret_name: ..., key: ...}"
    )
    storage_namespace: LabelValue | None = Field(
        default=None, description="a name that keeps this deployment's keys apart in a shared Redis"
    )


class Upgrade(FrozenModel):
    """What KubeRay does when the cluster's specification changes."""

    strategy: Literal["none", "new_cluster"] = Field(
        default="none",
        description="none: changes of pods are not rolled out; new_cluster: a second cluster beside the first, "
        "which needs twice the GPU nodes",
    )


class Head(FrozenModel):
    """Where the Ray head runs. It schedules and serves no model, so it belongs on a node without a GPU."""

    node_selector: dict[LabelKey, LabelValue] = Field(
        default={"constructs-pd/role": "system"},
        min_length=1,
        description="labels of the CPU nodes for the head; default: constructs-pd/role: system",
    )
    tolerations: Annotated[tuple[Toleration, ...], Field(strict=False)] = Field(
        default=(), description="taints of those nodes that the head accepts, a list of {key: ..., value: ...}"
    )
    memory_gib: int = Field(default=8, ge=4, le=512, description="the head's memory, 4 to 512 GiB")
    pod: Pod = Pod()


class Endpoint(FrozenModel):
    """How clients reach the deployment."""

    exposure: Literal["cluster", "internal_alb"] = Field(
        default="cluster", description="cluster: inside the cluster only; internal_alb: also an internal load balancer"
    )
    subnet_ids: Annotated[tuple[SubnetId, ...], Field(strict=False)] = Field(
        default=(),
        description=(
            "subnet ids (subnet-...) of the load balancer, in two zones or more; default: those tagged "
            "kubernetes.io/role/internal-elb"
        ),
    )
    idle_timeout_seconds: int = Field(
        default=600,
        ge=1,
        le=4000,
        description=(
            "the longest silence on a connection, 1 to 4000 seconds; a long prefill sends no byte, so it bounds the "
            "time to first token"
        ),
    )


class DeploymentSpec(FrozenModel):
    """One large language model, served with prefill and decode on separate nodes."""

    name: str = Field(description="the deployment's name: at most 47 lower-case letters, digits and '-'")
    namespace: str = Field(default="default", description="the Kubernetes namespace")
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
    endpoint: Endpoint = Endpoint()
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
    upgrade: Upgrade = Upgrade()
    single_pod_budget: Literal["block", "none"] = Field(
        default="block",
        description=(
            "for a group of one pod, block: a disruption budget that no node upgrade gets past; none: no budget, a "
            "node upgrade stops the service while the pod moves"
        ),
    )
    privileged_workers: bool = Field(
        default=False, description="whether worker containers run privileged: true or false; IPC_LOCK is added anyway"
    )
    initializing_timeout_seconds: int | None = Field(
        default=None,
        ge=1800,
        description=(
            "after how many seconds, at least 1800, KubeRay gives a service up that has not started, for good; "
            "default: never"
        ),
    )
    labels: dict[LabelKey, LabelValue] = Field(default={}, description="more labels for every object of the deployment")
    service_account_annotations: dict[LabelKey, str] = Field(
        default={}, description="annotations of the pods' ServiceAccount, such as an IAM role"
    )
    drain_seconds: int = Field(
        default=120, ge=30, le=3600, description="how long a stopping node may finish its requests: 30 to 3600 seconds"
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
