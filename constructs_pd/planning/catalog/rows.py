"""The shapes of the catalogue's rows. A user supplies missing rows by hand in the same shapes.

Every row carries its source and the date on which the source said so. Unknown is written as unknown (`null`),
never as zero or as the likely value.
"""

from __future__ import annotations

from datetime import date
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from constructs_pd.planning.model_base import FrozenModel

Positive = Annotated[int, Field(ge=1)]
Version = Annotated[str, Field(pattern=r"^\d+\.\d+\.\d+$")]


def _iso_date(value: Any) -> Any:
    """Accept a date written as text, which is what JSON and quoted YAML hold."""
    return date.fromisoformat(value) if isinstance(value, str) else value


IsoDate = Annotated[date, BeforeValidator(_iso_date)]


class Row(FrozenModel):
    """A dated, sourced fact.

    Attributes:
        source: Where the fact was read.
        date: When it was read or published.
    """

    source: Annotated[str, Field(min_length=1)]
    date: IsoDate


class Gpu(FrozenModel):
    """The GPUs of an instance type.

    Attributes:
        name: NVIDIA's product name, for example `L4`.
        count: GPUs per instance.
        memory_mib: Memory of one GPU as EC2 reports it, in MiB.
        ray_accelerator_type: Ray's name for it (case-sensitive), or null where Ray has none.
        gpudirect_rdma: Whether EFA reads and writes GPU memory directly; null when nobody says.
    """

    name: str
    count: Positive
    memory_mib: Positive
    ray_accelerator_type: str | None
    gpudirect_rdma: bool | None


class Efa(FrozenModel):
    """The Elastic Fabric Adapter of an instance type.

    Attributes:
        interfaces: Most EFA interfaces per instance.
        network_cards: Network cards that carry them.
        bandwidth_gbps: Network bandwidth of the instance, in Gbit/s.
    """

    interfaces: Positive
    network_cards: Positive
    bandwidth_gbps: Positive


class InstanceRow(Row):
    """An EC2 instance type with GPUs and EFA.

    Attributes:
        instance_type: Name, for example `g6.8xlarge`.
        gpu: Its GPUs.
        efa: Its EFA.
        vcpus: Virtual CPUs.
        memory_mib: Main memory in MiB.
        allocatable_cpu_millicores: CPU that the kubelet leaves to pods, in thousandths of a core.
        allocatable_memory_mib: Memory that the kubelet leaves to pods, in MiB.
    """

    instance_type: Annotated[str, Field(pattern=r"^[a-z0-9-]+\.[a-z0-9-]+$")]
    gpu: Gpu
    efa: Efa
    vcpus: Positive
    memory_mib: Positive
    allocatable_cpu_millicores: Positive
    allocatable_memory_mib: Positive


class ImageRow(Row):
    """A ray-llm image and what is in it.

    Attributes:
        tag: Image tag, an immutable one.
        repository: Public repository, without the tag.
        ray_version: Ray in the image; becomes the RayService's `rayVersion`.
        vllm_version: vLLM in the image.
        nixl_version: NIXL in the image.
    """

    tag: Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$")]
    repository: str
    ray_version: Version
    vllm_version: Version
    nixl_version: Version


class ModelRow(Row):
    """What the planner must know of a model.

    Attributes:
        model: Hugging Face id.
        architecture: `architectures[0]` of its config.json.
        attention: `full`: every layer keeps a KV cache per token. `hybrid`: some layers keep a fixed-size
            recurrent state instead (linear attention, state space), which constrains the hand-over.
        kv_heads: Key/value heads of its attention layers.
        max_position_embeddings: Longest context that it was trained for, in tokens.
        gated: Whether the weights can be read only with an accepted licence and a token.
    """

    model: str
    architecture: str
    attention: Literal["full", "hybrid"]
    kv_heads: Positive
    max_position_embeddings: Positive
    gated: bool


class KubernetesRow(Row):
    """An EKS minor version.

    Attributes:
        version: For example `1.35`.
        support: Whether EKS runs it under standard support or, for a surcharge, under extended support. A state
            on the row's date, not on today's, so that one specification always gives one plan.
        standard_until: Last day of standard support, where published.
        extended_until: Last day on which EKS runs it at all, where published.
    """

    version: Annotated[str, Field(pattern=r"^1\.\d+$")]
    support: Literal["standard", "extended"]
    standard_until: IsoDate | None
    extended_until: IsoDate | None


class KubeRayRow(Row):
    """A KubeRay release.

    Attributes:
        version: For example `1.7.0`.
        max_rayservice_name_characters: Longest RayService name that the operator accepts.
    """

    version: Version
    max_rayservice_name_characters: Positive
