"""The predicted latencies beside published benchmarks."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Final, Literal

import yaml

from benchmarks.published import Published
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.roofline import Engine

MOST_SEQUENCES: Final = 1024
_HALVINGS: Final = 60


class PublishedLatency(Published):
    """One row of a published table, with the settings that it was measured with.

    Attributes:
        table: The table's name, the same in all its rows.
        load: engine: a prompt alone, without a server; batch: requests that start together; concurrency: so many
            requests are always under way; rate: so many arrive in a second, at random.
        requests: How many requests, or how many a second.
        prefill_engines: Of a disaggregated run; 0 where engines serve both phases.
        prefill_tensor_parallel: GPUs of such an engine, where they are others than decode's.
        waves: How many requests each place of a run of concurrency had; 0 where that is not known. All its places ask
            at once at the start, and the first wave waits for itself: requests that arrive at random do not.
        fitted: Whether the shares and times of the catalogue were fitted to it.
    """

    table: str
    title: str
    server: str
    tensor_parallel: int = 1
    engines: int = 1
    prefill_engines: int = 0
    prefill_tensor_parallel: int | None = None
    load: Literal["engine", "batch", "concurrency", "rate"]
    requests: float
    waves: int = 0
    ttft_ms: float | None = None
    itl_ms: float | None = None
    total_ms: float | None = None
    fitted: bool = False
    note: str = ""
    source: str
    date: datetime.date

    @property
    def engine(self) -> Engine:
        """One of its engines; of a disaggregated run one that answers."""
        return self.engine_of(self.tensor_parallel, MOST_SEQUENCES)

    @property
    def kind_of_load(self) -> Literal["alone", "batch", "rate", "closed_loop"]:
        """What its load is to the planner."""
        if self.load == "rate":
            return "rate"
        if self.requests == 1:
            return "alone"
        return "closed_loop" if self.load == "concurrency" else "batch"

    @property
    def gpus(self) -> str:
        """Its engines, in words."""
        name = self.gpu_name or self.gpu.rpartition(" ")[0]
        if self.prefill_engines == 0:
            return f"{self.engines} x {self.tensor_parallel} {name}"
        prefill = f"{self.prefill_engines} x {self.prefill_tensor_parallel or self.tensor_parallel}"
        return f"{prefill} + {self.engines - self.prefill_engines} x {self.tensor_parallel} {name}"

    @property
    def stated_load(self) -> str:
        """Its load, in words."""
        if self.load == "rate":
            return f"{self.requests:g}/s"
        waves = f", {self.waves} waves" if self.waves else ""
        return f"concurrency {self.requests:g}{waves}" if self.load == "concurrency" else f"batch {self.requests:g}"


@dataclass(frozen=True, slots=True)
class Compared:
    """A published number beside the predicted one.

    Attributes:
        row: The row.
        time: TTFT, ITL, or the whole batch.
        published_ms: The published number.
        predicted_ms: The predicted one.
    """

    row: PublishedLatency
    time: Literal["TTFT", "ITL", "whole"]
    published_ms: float
    predicted_ms: float

    @property
    def number(self) -> str:
        """Which number it is: no other is called so."""
        row = self.row
        lengths = f"{row.prompt_tokens} / {row.output_tokens} tokens"
        return f"{row.table}: {row.title} on {row.gpus}, {lengths}, {row.stated_load}, {self.time}"


@cache
def published_latencies() -> tuple[PublishedLatency, ...]:
    """Return the published rows."""
    text = Path(__file__).with_name("published_latencies.yaml").read_text(encoding="utf-8")
    return tuple(PublishedLatency.model_validate(row) for row in yaml.safe_load(text))


def compared(row: PublishedLatency) -> tuple[Compared, ...]:
    """Return each number of a row beside the predicted one."""
    ttft, itl, total = _predicted(row)
    found = []
    if row.ttft_ms is not None:
        found.append(Compared(row, "TTFT", row.ttft_ms, ttft * 1e3))
    if row.itl_ms is not None:
        found.append(Compared(row, "ITL", row.itl_ms, itl * 1e3))
    if row.total_ms is not None:
        found.append(Compared(row, "whole", row.total_ms, total * 1e3))
    return tuple(found)


def _predicted(row: PublishedLatency) -> tuple[float, float, float]:
    """Return the seconds to the first token, between tokens, and of a whole request."""
    engine, requests = row.engine, row.of_requests
    if row.load in ("engine", "batch"):
        batch = int(row.requests)
        alone, shared = engine.prompt_seconds(row.prompt_tokens), engine.prompt_share_seconds(row.prompt_tokens)
        first = alone if batch == 1 else max(alone, batch * shared)
        token = engine.step_seconds(sequences=batch, context_tokens=requests.context_tokens)
        return first, token, first + token * (row.output_tokens - 1)
    served = _served(row, engine)
    rate = row.requests if row.load == "rate" else _closed_rate(served, requests, row.requests)
    found = served.latency(requests, rate)
    return found.ttft_mean, found.itl_mean, _whole(found, requests)


def _served(row: PublishedLatency, engine: Engine) -> Aggregated | Disaggregated:
    if row.prefill_engines == 0:
        return Aggregated(engine, row.engines)
    prefill = row.engine_of(row.prefill_tensor_parallel or row.tensor_parallel, MOST_SEQUENCES)
    decode = row.engines - row.prefill_engines
    return Disaggregated(
        prefill, engine, row.prefill_engines, decode, row.hand_over_to(engine, prefill.tensor_parallel)
    )


def _whole(found: Latency, requests: Requests) -> float:
    return found.answer_seconds(requests.output_tokens)


def _closed_rate(served: Aggregated | Disaggregated, requests: Requests, under_way: float) -> float:
    """Return the rate at which so many requests are under way on average: Little's law, turned round."""
    low, high = 0.0, under_way / 1e-3
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        whole = _whole(served.latency(requests, middle), requests)
        if isfinite(whole) and middle * whole <= under_way:
            low = middle
        else:
            high = middle
    return low
