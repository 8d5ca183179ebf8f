"""The shapes of the catalogue's rows. A user supplies missing rows by hand in the same shapes.

Every row carries its source and the date on which the source said so. Unknown is written as unknown (`null`),
never as zero or as the likely value.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from functools import cached_property
from typing import Annotated, Any, Final, Literal, Self

from pydantic import BeforeValidator, Field, JsonValue, ValidationInfo, model_validator

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.models.errors import ModelConfigError
from constructs_pd.planning.models.facts import ModelFacts, model_facts, model_outline
from constructs_pd.planning.versions import version_key

Positive = Annotated[int, Field(ge=1)]

# Says in a validation's context that the rows are the package's own.
OWN_DATA: Final = "own_data"
Version = Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]
MinorVersion = Annotated[str, Field(pattern=r"^1\.\d+$")]


def _iso_date(value: Any) -> Any:
    """Accept a date written as text, which is what JSON and quoted YAML hold."""
    try:
        return date.fromisoformat(value) if isinstance(value, str) else value
    except ValueError:
        return value  # and let the type refuse it


IsoDate = Annotated[date, BeforeValidator(_iso_date)]


class Row(FrozenModel):
    """A dated, sourced fact."""

    source: str = Field(min_length=1, description="where the row's facts were read, as text")
    date: IsoDate = Field(description="when they were read or published, as in 2026-11-29")


class Gpu(FrozenModel):
    """The GPUs of an instance type."""

    name: str = Field(description="NVIDIA's product name, such as L4")
    count: Positive = Field(description="GPUs per instance")
    memory_mib: Positive = Field(description="memory of one GPU as EC2 reports it, in MiB")
    compute_capability: str = Field(
        pattern=r"^\d{1,2}\.\d$", description='NVIDIA\'s compute capability of the GPU in quotes, such as "8.9"'
    )
    ray_accelerator_type: str | None = Field(
        description="Ray's name of the GPU (case-sensitive), such as L4, or null where Ray has none"
    )
    driver_branch: Positive | None = Field(
        default=None,
        description="the oldest branch of NVIDIA's driver that knows the GPU, such as 595, or null when nobody says",
    )
    gpudirect_rdma: bool | None = Field(
        description="whether EFA reads and writes GPU memory directly: true, false, or null when nobody says"
    )


class Efa(FrozenModel):
    """The Elastic Fabric Adapter of an instance type."""

    interfaces: Positive = Field(description="the most EFA interfaces of an instance")
    network_cards: Positive = Field(description="the network cards of an instance")
    first_efa_card: Literal[0, 1] = Field(
        default=0, description="the first network card that takes EFA: 0, or 1 where card 0 takes none"
    )
    rdma_read: bool | None = Field(
        default=None,
        description="whether EFA reads remote memory itself: true, false, or null when nobody says",
    )
    bandwidth_gbps: Positive = Field(description="the instance's network bandwidth, in Gbit/s")


class InstanceRow(Row):
    """An EC2 instance type with GPUs and EFA."""

    instance_type: str = Field(pattern=r"^[a-z0-9-]+\.[a-z0-9-]+$", description="the type's name, such as g6.8xlarge")
    gpu: Gpu
    efa: Efa
    vcpus: Positive = Field(description="virtual CPUs")
    memory_mib: Positive = Field(description="main memory, in MiB")
    capacity_blocks: bool | None = Field(
        default=None, description="whether EC2 sells it in Capacity Blocks: true, false, or null when nobody says"
    )
    allocatable_cpu_millicores: Positive = Field(
        description="CPU that the kubelet leaves to pods, in thousandths of a core"
    )
    allocatable_memory_mib: Positive = Field(description="memory that the kubelet leaves to pods, in MiB")


class SystemInstanceRow(Row):
    """An EC2 instance type without GPUs, for the nodes of the head and the operators."""

    instance_type: str = Field(description="the type's name, such as m7i.xlarge")
    vcpus: Positive = Field(description="virtual CPUs")
    memory_mib: Positive = Field(description="main memory, in MiB")
    allocatable_cpu_millicores: Positive = Field(description="CPU that the kubelet leaves to pods, in thousandths")
    allocatable_memory_mib: Positive = Field(description="memory that the kubelet leaves to pods, in MiB")


class AddonRow(Row):
    """An add-on that EKS manages, at the versions that EKS took by default on the row's date."""

    addon: str = Field(description="EKS's name of it, such as vpc-cni")
    versions: dict[str, str] = Field(description="its version by Kubernetes version, such as v1.22.4-eksbuild.1")
    unconfirmed: Annotated[frozenset[str], Field(strict=False)] = Field(
        default=frozenset(), description="the Kubernetes versions of which nobody says that EKS offers it there"
    )


class ChartRow(Row):
    """A Helm chart."""

    chart: str = Field(description="the chart's name")
    version: str = Field(description="its version, as its repository writes it")
    repository: str = Field(pattern=r"^https://", description="the repository that publishes it")


class ChartValueRow(Row):
    """Why a value is set in a chart."""

    value: str = Field(description="the chart's name, a slash, and the value by its path in the chart's values.yaml")
    reason: str = Field(description="what happens without it")

    @property
    def chart(self) -> str:
        """The chart's name."""
        return self.value.partition("/")[0]

    @property
    def path(self) -> str:
        """The value's path in the chart's values."""
        return self.value.partition("/")[2]


class UnsupportedZoneRow(Row):
    """A zone in which EKS runs no control plane."""

    zone: str = Field(description="the zone's id")


class AmiRow(Row):
    """A kind of machine image that EKS maintains for GPU nodes."""

    ami_type: str = Field(description="EKS's name of it, such as AL2023_x86_64_NVIDIA")
    driver_branch: Positive = Field(description="the branch of NVIDIA's driver in it, such as 580")
    newer_driver_branch: Positive | None = Field(
        default=None, description="the branch that newer releases hold as well, for GPUs that need it, or null"
    )
    newer_driver_since: IsoDate | None = Field(default=None, description="the first release that holds both")


class OfferingsRow(Row):
    """Which instance types each zone of a region offers. Zones stand by id: names differ from account to account."""

    region: str = Field(description="the region's code")
    zones: dict[str, Annotated[frozenset[str], Field(strict=False)]] = Field(
        description="the instance types of the catalogue that a zone offers, by zone id"
    )


class ImageRow(Row):
    """A ray-llm image and what is in it."""

    tag: str = Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$", description="the image's tag, an immutable one")
    repository: str = Field(
        pattern=r"^[a-z0-9.-]+(:\d+)?(/[a-z0-9]+([._-]+[a-z0-9]+)*)+$",
        description="the image's repository with its registry, without the tag",
    )
    mirrored_as: str | None = Field(
        default=None, description="its repository's name in AWS's private registries, or null for an image of your own"
    )
    ray_version: Version = Field(description="the Ray in the image, such as 2.58.0; it becomes the rayVersion")
    vllm_version: Version = Field(description="the vLLM in the image, such as 0.26.0")
    nixl_version: Version = Field(description="the NIXL in the image, such as 1.3.1")
    cuda_version: Version | None = Field(
        default=None, description="the CUDA toolkit in the image, such as 13.0.2, or null when nobody says"
    )


class RayRow(Row):
    """A Ray release, and what its extra for language models pins."""

    ray_version: Version = Field(description="the Ray version, such as 2.58.0")
    vllm_version: Version = Field(description="the vLLM that it was made for, such as 0.26.0")
    nixl_version: Version = Field(description="the NIXL that it was made for, such as 1.3.1")


class CudaRow(Row):
    """A major version of the CUDA toolkit."""

    major: str = Field(pattern=r"^\d+$", description="the major version, such as 13")
    least_driver_branch: Positive = Field(description="the oldest branch of NVIDIA's driver that runs it, such as 580")


class ModelSizes(FrozenModel):
    """A model's sizes by hand, for an architecture that the planner cannot count. They are those of the whole model."""

    weights_gib: float = Field(
        gt=0, le=100_000, allow_inf_nan=False, description="its weights as they are loaded, in GiB, such as 14.2"
    )
    kv_bytes_per_token: int = Field(
        ge=1, le=1_000_000_000, description="what one token takes of the KV cache in all layers together, in bytes"
    )
    state_bytes_per_request: int = Field(
        default=0,
        ge=0,
        le=1_000_000_000_000,
        description="what a request takes beside it in layers that keep a state, in bytes; 0 where there are none",
    )


class ModelRow(Row):
    """What the planner must know of a model.

    With `config` the other facts are derived from it and need not be stated.
    """

    model: str = Field(description="the model's Hugging Face id")
    architecture: str = Field(description="architectures[0] of its config.json")
    attention: Literal["full", "hybrid"] = Field(
        description=(
            "full: every layer keeps a KV cache per token; hybrid: some layers keep a state of fixed size instead "
            "(linear attention, state space), which constrains the hand-over"
        )
    )
    attention_heads: Positive = Field(description="query heads of its attention layers")
    kv_heads: Positive = Field(description="key/value heads of its attention layers; 1 for latent attention (MLA)")
    max_position_embeddings: Positive = Field(description="the longest context that it was trained for, in tokens")
    gated: bool = Field(description="whether the weights need an accepted licence and a token: true or false")
    config: dict[str, JsonValue] | None = Field(
        default=None, repr=False, description="the content of its config.json, from which the other facts are derived"
    )
    sizes: ModelSizes | None = Field(
        default=None, description="its sizes by hand, where its config.json cannot be counted"
    )

    @model_validator(mode="before")
    @classmethod
    def _derive(cls, data: Any, info: ValidationInfo) -> Any:
        """Derive from the configuration what is not stated, and refuse what contradicts it."""
        if not isinstance(data, Mapping) or not isinstance(data.get("config"), Mapping):
            return data
        try:
            # The catalogue's own rows are counted when somebody asks for one: tests count them all.
            is_own = isinstance(info.context, dict) and info.context.get(OWN_DATA, False)
            outline = model_outline(data["config"]) if is_own else model_facts(data["config"]).outline
        except ModelConfigError:
            if data.get("sizes") is None:
                raise
            return data
        derived: dict[str, Any] = {name: getattr(outline, name) for name in _DERIVED}
        for name, value in derived.items():
            if data.get(name, value) != value:
                raise ModelConfigError(name, f"config gives {value}, the row another", "leave one of them out")
        return {**derived, **data}

    @cached_property
    def facts(self) -> ModelFacts | None:
        """Everything that its config.json says of it, or none without one that can be counted."""
        try:
            return None if self.config is None else model_facts(self.config)
        except ModelConfigError:
            if self.sizes is None:
                raise
            return None


_DERIVED: Final = ("architecture", "attention", "attention_heads", "kv_heads", "max_position_embeddings")


class AcceleratorsRow(Row):
    """The GPUs that a Ray version names on nodes of its own accord."""

    ray_version: Version = Field(description="the Ray version, such as 2.58.0")
    names: Annotated[frozenset[str], Field(strict=False)] = Field(description="its names of NVIDIA GPUs")


class KubernetesRow(Row):
    """An EKS minor version. Its support is a state on the row's date, not on today's: one specification, one plan."""

    version: str = Field(pattern=r"^1\.\d+$", description="the minor version, such as 1.35")
    support: Literal["standard", "extended"] = Field(description="how EKS runs it; extended costs a surcharge")
    standard_until: IsoDate | None = Field(description="the last day of standard support, where published")
    extended_until: IsoDate | None = Field(description="the last day on which EKS runs it, where published")


class KubeRayRow(Row):
    """A KubeRay release."""

    version: Version = Field(description="the release, such as 1.7.0")
    max_rayservice_name_characters: Positive = Field(description="the longest RayService name the operator accepts")
    kubernetes_versions: tuple[MinorVersion, MinorVersion] = Field(
        strict=False, description="the oldest and the newest Kubernetes that its own tests run on"
    )
    least_ray_version: Version = Field(description="the oldest Ray whose health checks and fields it renders as here")


class GpuMemoryRow(Row):
    """A GPU's memory as CUDA counts it, which is less than its data sheet has."""

    gpu: str = Field(description="NVIDIA's product name and its memory as EC2 reports it, in MiB: A100 has two sizes")
    usable_gib: Annotated[float, Field(gt=0)] = Field(description="what cudaMemGetInfo calls its total, in GiB")


class EngineMemoryRow(Row):
    """What a vLLM version measures at start-up, as far as logs of it and its source tell beforehand."""

    vllm_version: Version = Field(description="the vLLM version, such as 0.26.0")
    gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = Field(description="its default")
    most_gpu_memory_utilization: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the most that the planner chooses"
    )
    taken_gib: Annotated[float, Field(ge=0)] = Field(
        description="the least that is taken of a GPU's memory before the engine asks for its share, in GiB"
    )
    reserve_gib: dict[int, float] = Field(
        description="memory that must stay free for CUDA, communicators and graphs, by GPUs of an engine, in GiB"
    )
    large_gpu_gib: Positive = Field(description="from this memory on a GPU gets the larger defaults, A100 apart")
    max_num_seqs: tuple[Positive, Positive] = Field(strict=False, description="its default on small and large GPUs")
    max_num_batched_tokens: tuple[Positive, Positive] = Field(
        strict=False, description="its default for an API server on small and large GPUs"
    )
    logit_copies: Annotated[float, Field(gt=0)] = Field(
        description="copies of the logits that its first runner's sampler holds"
    )
    logit_copies_v2: Annotated[float, Field(gt=0)] = Field(description="the same of its second runner's")
    activation_margin_gib: Annotated[float, Field(ge=0)] = Field(description="what every run needs beside them, in GiB")
    vision_gib: Annotated[float, Field(ge=0)] = Field(description="what a vision tower takes in the run, in GiB")
    outside_pytorch_gib: dict[int, float] = Field(description="memory outside PyTorch by GPUs of an engine, in GiB")
    unknown_activations_gib: Annotated[float, Field(ge=0)] = Field(
        description="what a run is taken to need of a model whose sizes are stated by hand, in GiB"
    )
    graphs_gib: Annotated[float, Field(ge=0)] = Field(description="what it sets aside for CUDA graphs, in GiB")
    uncounted_arguments: tuple[str, ...] = Field(
        strict=False, description="engine arguments that change any of this in a way that is not estimated"
    )


class GpuSpeedRow(Row):
    """What a GPU's data sheet promises, and the share of it that engines were measured to reach."""

    gpu: str = Field(description="NVIDIA's product name and its memory as EC2 reports it, in MiB: A100 has two sizes")
    half_tflops: Annotated[float, Field(gt=0)] = Field(
        description="dense matrix products in bfloat16 and float16, in TFLOP/s"
    )
    fp8_tflops: Annotated[float, Field(gt=0)] | None = Field(
        description="the same in FP8, or null where the GPU has none and computes in 16 bits"
    )
    fp4_tflops: Annotated[float, Field(gt=0)] | None = Field(
        description="the same in FP4, or null where the GPU has none and computes in 16 bits"
    )
    memory_gigabytes_per_second: Annotated[float, Field(gt=0)] = Field(description="bandwidth of its memory, in GB/s")
    link_gigabytes_per_second: Annotated[float, Field(gt=0)] = Field(
        description="what a GPU sends to the others of its node, in GB/s, one way: NVLink, or PCIe where there is none"
    )
    has_nvlink: bool = Field(description="whether the GPUs of a node are joined by NVLink")
    half_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the share of half_tflops that long prompts reach"
    )
    fp8_efficiency: Annotated[float, Field(gt=0, le=1)] | None = Field(
        description="the share of fp8_tflops that long prompts reach, or null without FP8"
    )
    fp4_efficiency: Annotated[float, Field(gt=0, le=1)] | None = Field(
        description="the share of fp4_tflops that long prompts reach, or null without FP4"
    )
    memory_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the share of its memory's bandwidth that decoding reaches"
    )
    is_measured: bool = Field(
        description="whether the shares were fitted to measurements of this GPU; else they are another's, derated"
    )


class PredictionErrorRow(Row):
    """A latency that somebody published, beside what the planner predicts of the same engines, load and lengths."""

    number: str = Field(description="the published number: its table, what ran on what, and the time")
    gpu: str = Field(description="the GPU, as in gpu_speed.yaml; another name where EC2 has none such")
    time: Literal["TTFT", "ITL", "whole"] = Field(
        description="TTFT: to the first token; ITL: between tokens; whole: a batch from start to end, mostly ITL"
    )
    load: Literal["alone", "batch", "rate", "closed_loop"] = Field(
        description="alone: one request; batch: requests that start together, without a server; rate: so many arrive "
        "in a second; closed_loop: so many are always under way, and all start at once"
    )
    is_apart: bool = Field(description="whether prefill and decode were apart")
    is_fitted: bool = Field(
        description="whether shares or times of gpu_speed.yaml and engine_speed.yaml were fitted to it"
    )
    published_ms: Annotated[float, Field(gt=0)] = Field(description="what was published, in milliseconds")
    predicted_ms: Annotated[float, Field(gt=0)] = Field(description="what is predicted, in milliseconds")

    @property
    def error(self) -> float:
        """The prediction's error, as a share of what was published."""
        return self.predicted_ms / self.published_ms - 1


class EngineSpeedRow(Row):
    """What a step and a request take of an engine beside the GPU's arithmetic."""

    vllm_version: Version = Field(description="the vLLM version, such as 0.26.0")
    step_ms: Annotated[float, Field(ge=0)] = Field(
        description="scheduling, launching and sampling of a step, in milliseconds"
    )
    layer_us: Annotated[float, Field(ge=0)] = Field(
        description="what the kernels of a layer take of a step at least, in microseconds"
    )
    eager_layer_us: Annotated[float, Field(ge=0)] = Field(
        description="what the CPU takes to launch a layer's kernels one by one, without CUDA graphs, in microseconds"
    )
    sequence_us: Annotated[float, Field(ge=0)] = Field(
        description="what the scheduler and the sampler take of a step for a sequence, in microseconds"
    )
    nvlink_all_reduce_us: Annotated[float, Field(ge=0)] = Field(
        description="the least time of a sum over the GPUs of an engine with NVLink, in microseconds"
    )
    pcie_all_reduce_us: Annotated[float, Field(ge=0)] = Field(description="the same without NVLink, in microseconds")
    link_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the share of the links' rate that such a sum reaches"
    )
    attention_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the attention kernels' share of a GPU's 16-bit FLOP/s in a prompt"
    )
    experts_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the FLOP/s that matrices of experts reach, as a share of what others do"
    )
    request_ms: Annotated[float, Field(ge=0)] = Field(
        description="what a request takes before it is scheduled and after its first token, in milliseconds"
    )
    hop_ms: Annotated[float, Field(ge=0)] = Field(
        description="what the second request of a hand-over, to decode, takes more, in milliseconds"
    )


class QuotaRow(Row):
    """A quota of EC2 that nodes with GPUs count against."""

    families: str = Field(pattern=r"^[a-z]$", description="the letter that its instance types begin with")
    name: str = Field(min_length=1, description="its name in Service Quotas")
    code: str = Field(pattern=r"^L-[0-9A-F]{8}$", description="its code in Service Quotas")


PathName = Literal["efa_gpudirect", "efa_staged", "tcp_limit", "tcp"]


class TransferPathRow(Row):
    """A way for a KV cache from one engine to another, and how quick it is."""

    path: PathName = Field(description="its name")
    title: str = Field(description="what it is, in words")
    efficiency: Annotated[float, Field(gt=0, le=1)] = Field(description="the share of the line rate that it reaches")
    best_efficiency: Annotated[float, Field(gt=0, le=1)] = Field(
        description="the largest share that anyone has measured, or 1 where nobody has"
    )
    engine_gbps: Annotated[float, Field(gt=0)] | None = Field(
        description="the most that one engine gets, in Gbit/s, or null where only the link limits it"
    )
    flow_gbps: Annotated[float, Field(gt=0)] | None = Field(
        description="the most that the connection of one GPU gets, in Gbit/s, or null where only the link limits it"
    )
    group_flow_gbps: Annotated[float, Field(gt=0)] | None = Field(
        description="the same between nodes of one cluster placement group"
    )
    fixed_ms: Annotated[float, Field(ge=0)] = Field(description="what a transfer takes besides, in milliseconds")
    descriptor_us: Annotated[float, Field(ge=0)] = Field(
        description="what the thread of a GPU takes to post one descriptor, in microseconds"
    )


DefectComponent = Literal["kuberay", "nixl", "ray", "vllm"]
DefectCondition = Literal[
    "always",
    "caches_of_unequal_layers",
    "flashinfer_with_windows_on_hopper",
    "hybrid_model",
    "hybrid_model_with_prefix_caching",
    "hybrid_model_with_prefix_caching_and_speculation",
    "new_cluster_upgrade",
    "other_hand_over",
    "prefill_wider_than_decode",
    "several_kinds_of_cache",
    "unequal_sizes_with_windows",
]


class KnownDefectRow(Row):
    """A defect of a component that somebody has reported, and the versions that have it."""

    id: str = Field(
        pattern=r"^[a-z0-9]+(-[a-z0-9]+)+$", description="its id, which never changes: the repository and the thread"
    )
    title: str = Field(min_length=1, description="what it is, in a few words")
    component: DefectComponent = Field(description="what has it")
    first_affected: Version = Field(description="the oldest release of which it is known")
    first_fixed: Version | None = Field(description="the first release without it, or null while none is known")
    condition: DefectCondition = Field(description="what a deployment must have for it; planning/defects.py tells")
    effect: str = Field(min_length=1, description="what happens")
    workaround: str = Field(min_length=1, description="what to do until it is fixed")
    severity: Literal["error", "warning"] = Field(description="error where the deployment could not work")

    @model_validator(mode="after")
    def _range_is_not_empty(self) -> Self:
        if self.first_fixed is not None and version_key(self.first_fixed) <= version_key(self.first_affected):
            raise ValueError(f"{self.id}: fixed in {self.first_fixed}, first seen in {self.first_affected}")
        return self

    def affects(self, version: str) -> bool:
        """Return whether a version of the component has it."""
        is_fixed = self.first_fixed is not None and version_key(version) >= version_key(self.first_fixed)
        return version_key(version) >= version_key(self.first_affected) and not is_fixed


class EngineArgumentsRow(Row):
    """The argument names that a vLLM version knows."""

    vllm_version: Version = Field(description="the vLLM version, such as 0.26.0")
    engine: Annotated[frozenset[str], Field(strict=False)] = Field(description="fields of AsyncEngineArgs")
    frontend: Annotated[frozenset[str], Field(strict=False)] = Field(description="fields of FrontendArgs")


class RegistryRow(Row):
    """AWS's private registry of Deep Learning Containers in a region."""

    region: str = Field(description="the region's code")
    account: str = Field(pattern=r"^\d{12}$", description="the account that owns the registry")
    dns_suffix: Literal["amazonaws.com", "amazonaws.com.cn"] = Field(description="how the registry's host name ends")

    def repository(self, name: str) -> str:
        """Return the address of one of its repositories."""
        return f"{self.account}.dkr.ecr.{self.region}.{self.dns_suffix}/{name}"


class TlsPolicyRow(Row):
    """A security policy of a load balancer's HTTPS listener."""

    policy: str = Field(description="ELB's name of it")
    least_tls: Literal["1.0", "1.1", "1.2", "1.3"] = Field(description="the lowest version of TLS that it accepts")


class UnsuitableInstanceRow(Row):
    """Instance types that cannot serve a phase."""

    pattern: str = Field(description="instance types, as a shell pattern")
    reason: str = Field(description="why they cannot")


RolloutPart = Literal[
    "application",
    "proxies",
    "pods",
    "group_sizes",
    "tolerations",
    "service",
    "objects",
    "identity",
    "nodes",
    "cluster",
]
RolloutEffect = Literal[
    "in_place",
    "second_cluster",
    "ignored",
    "new_service",
    "nodes_replaced",
    "second_node_group",
    "new_stack",
    "remade",
]
RolloutEffects = dict[RolloutPart, RolloutEffect]


class RolloutRow(Row):
    """What a kind of change does to a running service, under each upgrade strategy.

    The effects are told for each part of the manifests and the stack that the change reaches; `data/rollout.yaml`
    defines the parts.
    """

    change: str = Field(description="what changes, in words")
    fields: Annotated[tuple[str, ...], Field(strict=False)] = Field(
        description="fields of a specification that do it, each with everything below it"
    )
    none: RolloutEffects = Field(description="the effect on each changed part under the strategy none")
    new_cluster: RolloutEffects = Field(description="the effect on each changed part under the strategy new_cluster")
    note: str = Field(description="what follows for whoever applies it")
