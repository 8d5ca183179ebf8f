"""The advice beside what published studies found."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

import yaml
from pydantic import BaseModel, ConfigDict

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import ModelFacts, model_facts
from constructs_pd.planning.performance.advice import Advice, advise
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated, HandOver
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.performance.work import work_of
from constructs_pd.planning.spec_targets import Targets

VLLM_VERSION: Final = "0.26.0"
_BITS: Final = 8


class Engines(BaseModel):
    """Equal engines of a study."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engines: int
    tensor_parallel: int


class Study(BaseModel):
    """A published comparison of both ways on the same GPUs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    study: str
    found: Literal["gain", "loss"]
    claim: str
    model: str | None = None
    config: dict[str, Any] | None = None
    gpu: str
    gpu_changes: dict[str, float] = {}
    compute_capability: str
    prefill: Engines
    decode: Engines
    aggregated: Engines
    hand_over_gbps: float
    step_tokens: int = 8192
    sequences: int = 256
    prompt_tokens: int
    output_tokens: int
    rate: float
    ttft_p50_seconds: float | None = None
    itl_seconds: float | None = None
    published_ratio: float | None = None
    note: str = ""
    source: str
    date: datetime.date

    @property
    def facts(self) -> ModelFacts:
        """The model's facts."""
        if self.config is not None:
            return model_facts(self.config)
        assert self.model is not None
        facts = load_catalog().models[self.model].facts
        assert facts is not None
        return facts

    @property
    def gpus(self) -> tuple[int, int]:
        """The GPUs of the phases apart, and together."""
        apart = sum(part.engines * part.tensor_parallel for part in (self.prefill, self.decode))
        return apart, self.aggregated.engines * self.aggregated.tensor_parallel

    def advice(self) -> Advice:
        """Return what the planner says of it."""
        prefill, decode, both = (self._engine(part) for part in (self.prefill, self.decode, self.aggregated))
        size = sum(part.bytes_per_token * part.seen(self.prompt_tokens) for part in decode.work.attention)
        wire = size * self.decode.tensor_parallel * _BITS / (self.hand_over_gbps * 1e9)
        apart = Disaggregated(
            prefill, decode, self.prefill.engines, self.decode.engines, HandOver(0.003, 0.0, wire, wire, wire)
        )
        targets = Targets(ttft_p50_seconds=self.ttft_p50_seconds, itl_seconds=self.itl_seconds)
        requests = Requests(self.prompt_tokens, 0, self.output_tokens, 0.0)
        return advise(requests, self.rate, targets, apart, Aggregated(both, self.aggregated.engines))

    def _engine(self, part: Engines) -> Engine:
        catalog = load_catalog()
        gpu = catalog.gpu_speed[self.gpu].model_copy(update=dict(self.gpu_changes))
        work = work_of(self.facts, part.tensor_parallel, self.compute_capability)
        speed = catalog.engine_speed[VLLM_VERSION]
        return Engine(work, gpu, speed, part.tensor_parallel, self.step_tokens, self.sequences)


@cache
def studies() -> tuple[Study, ...]:
    """Return the published studies."""
    text = Path(__file__).with_name("published_verdicts.yaml").read_text(encoding="utf-8")
    return tuple(Study.model_validate(row) for row in yaml.safe_load(text))
