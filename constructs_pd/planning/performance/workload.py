"""What a user states of a workload, to learn how many nodes of each phase it takes."""

from __future__ import annotations

from copy import deepcopy
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from constructs_pd.planning.catalog.rows import InstanceRow, ModelRow
from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec import DeploymentSpec, Model
from constructs_pd.planning.spec_monitoring import Slo
from constructs_pd.planning.spec_pods import SecretReference
from constructs_pd.planning.spec_traffic import Traffic
from constructs_pd.planning.spec_types import unique


class WorkloadTraffic(Traffic):
    """The requests of a busy hour, with the length of their answers."""

    output_tokens: int = Field(
        ge=1, le=100_000_000, description="the mean length of their answers, in tokens, at least 1"
    )


class Workload(FrozenModel):
    """A model, the requests for it, and what may be bought for them."""

    name: str = Field(default="llm", description="the name of the deployment that is written, such as qwen3-32b")
    region: str = Field(
        pattern=r"^[a-z]{2}(-[a-z]+)+-\d$", description="the AWS region, by its code, such as us-west-2"
    )
    availability_zone: str = Field(
        description="the one zone of all GPU nodes, by name (us-west-2a) or id (usw2-az1): EFA does not cross zones"
    )
    model: Model
    traffic: WorkloadTraffic
    slo: Slo | None = Field(
        default=None,
        description="what clients are promised, as in a specification: {ttft_p95_seconds: ..., itl_p95_seconds: ...}; "
        "default: nothing, and no part is busier than 80 %",
    )
    instance_types: Annotated[tuple[str, ...], Field(strict=False), AfterValidator(unique)] = Field(
        min_length=1,
        max_length=16,
        description="the instance types to consider for both phases, a list of 1 to 16, each once",
    )
    prices_per_hour: dict[str, Annotated[float, Field(gt=0, le=100_000, allow_inf_nan=False)]] = Field(
        default={},
        description="what an hour of an instance costs, by instance type, in a currency of yours, above 0; default: "
        "not known, and the fewest GPUs count",
    )
    block_tokens: int | None = Field(
        default=None,
        ge=16,
        le=1024,
        multiple_of=16,  # of every attention backend: vLLM 0.26.0 get_supported_kernel_block_sizes; vllm#41363
        description="the tokens of a block of the KV cache (vLLM's block_size) in both phases, a multiple of 16 up to "
        "1024; default: vLLM's. Larger ones are fewer reads of the hand-over",
    )
    most_nodes: int = Field(default=64, ge=1, le=1000, description="the most nodes of a phase to consider, 1 to 1000")
    hugging_face_token: SecretReference | None = Field(
        default=None, description="a reference to the token for gated models: {secret_name: ..., key: ...}"
    )
    custom_instances: Annotated[tuple[InstanceRow, ...], Field(strict=False)] = Field(
        default=(), description="a list of instance types that the catalogue lacks, with their numbers"
    )
    custom_models: Annotated[tuple[ModelRow, ...], Field(strict=False)] = Field(
        default=(), description="a list of models that the catalogue lacks, with their facts"
    )

    def specification(self, prefill: tuple[str, int], decode: tuple[str, int]) -> dict[str, Any]:
        """Return the specification of a deployment, as its file would hold it.

        Args:
            prefill: The instance type of prefill, and how many.
            decode: The same of decode.
        """
        stated = self.model_dump(mode="json", exclude_unset=True)
        kept = ("region", "availability_zone", "model", "traffic", "slo", "hugging_face_token")
        arguments = {"engine_args": {"block_size": self.block_tokens}} if self.block_tokens is not None else {}
        phases = {
            name: {"instance_type": instance_type, "replicas": replicas, **deepcopy(arguments)}
            for name, (instance_type, replicas) in (("prefill", prefill), ("decode", decode))
        }
        used = {instance_type for instance_type, _ in (prefill, decode)}
        custom = [row for row in stated.get("custom_instances", []) if row["instance_type"] in used]
        return {
            "name": self.name,
            **{name: stated[name] for name in kept if stated.get(name) is not None},
            **({"monitoring": {}} if self.slo is not None else {}),  # PD180: what was promised is measured
            **phases,
            **({"custom_instances": custom} if custom else {}),
            **({"custom_models": stated["custom_models"]} if stated.get("custom_models") else {}),
        }

    def deployment(self, prefill: tuple[str, int], decode: tuple[str, int]) -> DeploymentSpec:
        """Return the same, read."""
        return DeploymentSpec.model_validate(self.specification(prefill, decode))
