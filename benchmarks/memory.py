"""The memory estimates beside published start-up logs of vLLM."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import yaml

from benchmarks.model_of_row import OfModel
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.fit import BATCHES_AT_ONCE
from constructs_pd.planning.gpu_memory import GIB, EngineShape, memory_budget
from constructs_pd.planning.kv_layout import kv_layout
from constructs_pd.planning.models import ModelFacts, weight_bytes_per_gpu

# None of the logs has weights or blocks that depend on it.
COMPUTE_CAPABILITY = "9.0"
VLLM_VERSION = "0.26.0"


class StartUpLog(OfModel):
    """What a log of vLLM says. Sizes are of one GPU; what is None it does not say."""

    name: str
    vllm_version: str
    total_gib: float | None = None
    gpu_memory_utilization: float | None = None
    tensor_parallel: int = 1
    max_model_len: int
    max_num_seqs: int
    max_num_batched_tokens: int
    enforce_eager: bool = False
    kv_cache_dtype: str = "auto"
    states_per_request: int = 1
    weights_gib: float | None = None
    kv_cache_gib: float
    kv_cache_tokens: int | None = None
    kv_cache_error_bound: float = 0.025
    reason: str | None = None
    source: str
    quote: str | None = None
    date: datetime.date


@dataclass(frozen=True, slots=True)
class Comparison:
    """A log beside the estimate; None where the log lacks what an estimate needs.

    Attributes:
        log: The log.
        weights_gib: Estimated weights of a GPU, in GiB.
        kv_cache_gib: Estimated KV cache of a GPU, in GiB, from the GPU's memory and the settings alone.
        kv_cache_tokens: Tokens that the logged size of the KV cache holds.
    """

    log: StartUpLog
    weights_gib: float | None
    kv_cache_gib: float | None
    kv_cache_tokens: int

    @property
    def kv_cache_error(self) -> float | None:
        """The estimate's error, as a share of the log's."""
        return None if self.kv_cache_gib is None else self.kv_cache_gib / self.log.kv_cache_gib - 1

    @property
    def tokens_error(self) -> float | None:
        """The error of the tokens, as a share of the log's."""
        logged = self.log.kv_cache_tokens
        return None if logged is None else self.kv_cache_tokens / logged - 1


@cache
def start_up_logs() -> tuple[StartUpLog, ...]:
    """Return the published logs."""
    text = Path(__file__).with_name("start_up_logs.yaml").read_text(encoding="utf-8")
    return tuple(StartUpLog.model_validate(row) for row in yaml.safe_load(text))


def compared(log: StartUpLog) -> Comparison:
    """Return a log beside the estimate."""
    facts = log.facts
    layout = kv_layout(
        facts,
        tensor_parallel=log.tensor_parallel,
        kv_cache_dtype=log.kv_cache_dtype,
        in_flight_tokens=BATCHES_AT_ONCE * log.max_num_batched_tokens,
        states_per_request=log.states_per_request,
    )
    weights = weight_bytes_per_gpu(facts, log.tensor_parallel, "auto", COMPUTE_CAPABILITY)
    return Comparison(
        log,
        weights_gib=None if log.weights_gib is None else weights / GIB,
        kv_cache_gib=_kv_cache_gib(log, facts, weights),
        kv_cache_tokens=layout.tokens(int(log.kv_cache_gib * GIB), log.max_model_len),
    )


def _kv_cache_gib(log: StartUpLog, facts: ModelFacts, weights: int) -> float | None:
    if log.total_gib is None or log.gpu_memory_utilization is None:
        return None
    shape = EngineShape(log.tensor_parallel, log.max_num_seqs, log.max_num_batched_tokens, log.enforce_eager)
    budget = memory_budget(
        facts,
        shape,
        total_bytes=int(log.total_gib * GIB),
        gpu_memory_utilization=log.gpu_memory_utilization,
        weight_bytes=weights,
        estimates=load_catalog().engine_memory[VLLM_VERSION],
    )
    return budget.kv_cache / GIB
