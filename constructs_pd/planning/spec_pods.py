"""What a user states of pods: the two phases, the head, and what is added to them."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_nodes import Capacity, Reservation
from constructs_pd.planning.spec_types import (
    AbsolutePath,
    AmiId,
    EnvironmentName,
    EnvironmentValue,
    FiniteJson,
    LabelKey,
    LabelValue,
    ObjectName,
)

SinglePodBudget = Literal["block", "none"]


class SecretReference(FrozenModel):
    """A value that stays in a Kubernetes Secret; only its address is ever written."""

    secret_name: Annotated[
        ObjectName,
        Field(description="the name of a Secret in the namespace: lower-case letters, digits, '-' and '.'"),
    ]
    key: Annotated[
        str,
        Field(
            max_length=253,
            pattern=r"^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$",
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
    storage: Literal["existing", "efs"] = Field(
        default="existing",
        description="existing: the claim is there; efs: an Amazon EFS file system and the claim are made, beside a new "
        "eks_cluster",
    )


class Toleration(FrozenModel):
    """A taint of CPU nodes that the head accepts."""

    key: LabelKey = Field(description="the taint's key")
    value: LabelValue | None = Field(default=None, description="the taint's value; default: any")
    effect: Literal["NoSchedule", "NoExecute", "PreferNoSchedule"] = Field(
        default="NoSchedule", description="the taint's effect: NoSchedule, NoExecute or PreferNoSchedule"
    )


class Pod(FrozenModel):
    """What a user adds to the pods of the head or of a phase. What the planner owns is refused here."""

    environment: dict[EnvironmentName, EnvironmentValue] = Field(
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
    concurrent_requests: int = Field(
        default=1,
        ge=1,
        le=100_000,
        description="the requests of the longest context whose KV cache one engine must hold at once, at least 1",
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
    engine_args: dict[str, FiniteJson] = Field(
        default={}, description="more vLLM engine arguments by their names in the image's vLLM, such as block_size"
    )
    min_nodes: int | None = Field(
        default=None,
        ge=0,
        description=(
            "the fewest nodes that this phase's node group may have, at most replicas; default: replicas, 0 in a "
            "capacity_block"
        ),
    )
    max_nodes: int | None = Field(
        default=None,
        ge=1,
        le=2000,
        description="the most nodes that this phase's node group may have, at least replicas; default: replicas",
    )
    capacity: Capacity = Field(
        default="on_demand",
        description="how this phase's nodes are bought: on_demand, reservation (On-Demand Capacity Reservation) or "
        "capacity_block",
    )
    reservation: Reservation | None = Field(
        default=None,
        description="the reservation or Capacity Block: {id: ..., availability_zone: ..., instance_count: ...}",
    )
    root_volume_gib: int | None = Field(
        default=None,
        ge=100,
        le=16384,
        description=(
            "the size of a node's disk, 100 to 16384 GiB; default: 200, and room for the weights where there is no "
            "model_cache"
        ),
    )
    ami_id: AmiId | None = Field(
        default=None,
        description="your own AMI, built from the EKS AL2023 AMI; default: the EKS AL2023 AMI with NVIDIA drivers",
    )
    ami_driver_branch: Annotated[int, Field(ge=1, le=9999)] | None = Field(
        default=None, description="the branch of NVIDIA's driver in ami_id, such as 580; default: it is not known"
    )
    single_pod_budget: SinglePodBudget | None = Field(
        default=None, description="as single_pod_budget of the deployment, for this phase alone: block or none"
    )
    pod: Pod = Pod()

    @property
    def most_nodes(self) -> int:
        """The most nodes that the phase's node group may have."""
        return self.max_nodes or self.replicas


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
    single_pod_budget: SinglePodBudget | None = Field(
        default=None, description="as single_pod_budget of the deployment, for the head alone: block or none"
    )
    pod: Pod = Pod()
