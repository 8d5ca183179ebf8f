"""The predicted latencies beside published benchmarks."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from functools import cache
from math import ceil, isfinite
from pathlib import Path
from typing import Final, Literal

import yaml

from benchmarks.published import Published
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.roofline import Engine

MOST_SEQUENCES: Final = 1024
# Beyond it the page and the command say "order of magnitude".
ORDER_OF_MAGNITUDE: Final = 0.3
_HALVINGS: Final = 60
_UPPER_QUARTILE: Final = 0.75


class PublishedLatency(Published):
    """One row of a published table, with the settings that it was measured with.

    Attributes:
        table: The table's name, the same in all its rows.
        load: engine: a prompt alone, without a server; batch: requests that start together; concurrency: so many
            requests are always under way; rate: so many arrive in a second, at random.
        requests: How many requests, or how many a second.
        prefill_engines: Of a disaggregated run; 0 where engines serve both phases.
        waves: How many requests each place of a run of concurrency had. All its places ask at once at the start, so one
            wave in so many waits for the whole wave; 0 where that is not known, and nothing waits so.
        fitted: Whether the shares and times of the catalogue were fitted to it.
    """

    table: str
    title: str
    server: str
    tensor_parallel: int = 1
    engines: int = 1
    prefill_engines: int = 0
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
        """One of its engines."""
        return self.engine_of(self.tensor_parallel, MOST_SEQUENCES)


@dataclass(frozen=True, slots=True)
class Compared:
    """A published number beside the predicted one.

    Attributes:
        row: The row.
        what: TTFT, ITL or total.
        published_ms: The published number.
        predicted_ms: The predicted one.
    """

    row: PublishedLatency
    what: Literal["TTFT", "ITL", "total"]
    published_ms: float
    predicted_ms: float

    @property
    def error(self) -> float:
        """The prediction's error, as a share of what was published."""
        return self.predicted_ms / self.published_ms - 1

    @property
    def is_order_of_magnitude(self) -> bool:
        """Whether the error is so large that the prediction is no more than an order of magnitude."""
        return abs(self.error) > ORDER_OF_MAGNITUDE


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
        found.append(Compared(row, "total", row.total_ms, total * 1e3))
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
    first = found.ttft_mean
    if row.waves:
        burst = (row.requests + 1) / 2 * engine.prompt_share_seconds(row.prompt_tokens) / row.engines
        first += (burst - found.ttft_mean) / row.waves if burst > found.ttft_mean else 0.0
    return first, found.itl_mean, _whole(found, requests)


def _served(row: PublishedLatency, engine: Engine) -> Aggregated | Disaggregated:
    if row.prefill_engines == 0:
        return Aggregated(engine, row.engines)
    decode = row.engines - row.prefill_engines
    return Disaggregated(engine, engine, row.prefill_engines, decode, row.hand_over_to(engine))


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


def usual_errors() -> dict[str, tuple[float | None, float | None]]:
    """Return, by GPU, the errors of TTFT and ITL that three quarters of its rows do not exceed; none without rows.

    A batch that was timed as a whole counts as ITL, which most of it is. GPUs that EC2 does not have are left out.
    """
    found: dict[str, tuple[list[float], list[float]]] = {}
    for row in (row for row in published_latencies() if not row.gpu_changes):
        first, further = found.setdefault(row.gpu, ([], []))
        for each in compared(row):
            (first if each.what == "TTFT" else further).append(abs(each.error))
    return {gpu: (_upper_quartile(first), _upper_quartile(further)) for gpu, (first, further) in found.items()}


def _upper_quartile(errors: list[float]) -> float | None:
    if not errors:
        return None
    ordered = sorted(errors)
    return ordered[ceil(_UPPER_QUARTILE * len(ordered)) - 1]
