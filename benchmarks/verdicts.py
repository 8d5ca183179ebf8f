"""The advice beside what published studies found."""

from __future__ import annotations

import datetime
from functools import cache
from pathlib import Path
from typing import Literal

import yaml
from pydantic import BaseModel, ConfigDict

from benchmarks.published import Published
from constructs_pd.planning.performance.advice import Advice, Verdict, advise
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.targets import Targets


class Engines(BaseModel):
    """Equal engines of a study."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    engines: int
    tensor_parallel: int


class Study(Published):
    """A published comparison of both ways on the same GPUs.

    Attributes:
        study: Its name.
        found: What it found of the phases apart.
        is_measured: Whether both ways were run, and not composed of other measurements.
        claim: In its words.
        prefill: The engines that took prompts.
        decode: Those that answered.
        aggregated: Those that served both.
        sequences: The most requests that an engine answered at once.
        rate: Requests that were offered in a second.
        ttft_p50_seconds: Within which time to the first token they count, or none.
        itl_seconds: The same between tokens.
        published_ratio: How many times as many requests it served apart, where it says so of the same times.
        note: What was assumed.
        weak: Why little may be built on it, if so.
        source: Where it stands.
        date: Since when.
    """

    study: str
    found: Literal["gain", "loss"]
    is_measured: bool = True
    claim: str
    prefill: Engines
    decode: Engines
    aggregated: Engines
    sequences: int = 256
    rate: float
    ttft_p50_seconds: float | None = None
    itl_seconds: float | None = None
    published_ratio: float | None = None
    note: str = ""
    weak: str = ""
    source: str
    date: datetime.date

    @property
    def gpus(self) -> tuple[int, int]:
        """The GPUs of the phases apart, and together."""
        apart = sum(part.engines * part.tensor_parallel for part in (self.prefill, self.decode))
        return apart, self.aggregated.engines * self.aggregated.tensor_parallel

    def is_found(self, verdict: Verdict) -> bool:
        """Return whether a verdict is what the study found."""
        return (verdict == "yes") == (self.found == "gain")

    def advice(self) -> Advice:
        """Return what the planner says of it."""
        prefill, decode, both = (
            self.engine_of(part.tensor_parallel, self.sequences)
            for part in (self.prefill, self.decode, self.aggregated)
        )
        hand_over = self.hand_over_to(decode, prefill.tensor_parallel)
        apart = Disaggregated(prefill, decode, self.prefill.engines, self.decode.engines, hand_over)
        targets = Targets(ttft_p50_seconds=self.ttft_p50_seconds, itl_seconds=self.itl_seconds)
        return advise(self.of_requests, self.rate, targets, apart, Aggregated(both, self.aggregated.engines))


@cache
def studies() -> tuple[Study, ...]:
    """Return the published studies."""
    text = Path(__file__).with_name("published_verdicts.yaml").read_text(encoding="utf-8")
    return tuple(Study.model_validate(row) for row in yaml.safe_load(text))
