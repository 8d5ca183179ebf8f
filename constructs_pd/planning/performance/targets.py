"""What clients are promised, and the most that a deployment serves within it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Protocol

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.performance.latency import Latency, Requests

# Without targets a deployment is full where its busiest part is this busy: queues then are some five times as long as
# at half of it.
BUSY: Final = 0.8
_HALVINGS: Final = 40
_LEAST_RATE: Final = 1e-6
_MOST_RATE: Final = 1e7


class Targets(FrozenModel):
    """Promises to clients, in seconds. What is left out is not promised."""

    ttft_p50_seconds: float | None = Field(
        default=None, gt=0, le=86400, allow_inf_nan=False, description="the median time to the first token, in seconds"
    )
    ttft_p95_seconds: float | None = Field(
        default=None,
        gt=0,
        le=86400,
        allow_inf_nan=False,
        description="the time to the first token that 95 % of the requests do not exceed, in seconds",
    )
    itl_seconds: float | None = Field(
        default=None, gt=0, le=86400, allow_inf_nan=False, description="the mean time between tokens, in seconds"
    )
    itl_p95_seconds: float | None = Field(
        default=None,
        gt=0,
        le=86400,
        allow_inf_nan=False,
        description="the time between tokens that 95 % of them do not exceed, in seconds",
    )

    @property
    def is_empty(self) -> bool:
        """Whether nothing is promised."""
        return not self.model_dump(exclude_none=True)

    def missed(self, found: Latency) -> Iterator[tuple[str, float, float]]:
        """Yield each promise that a latency breaks: its field, the time, and what was promised."""
        times = {
            "ttft_p50_seconds": found.ttft_p50,
            "ttft_p95_seconds": found.ttft_p95,
            "itl_seconds": found.itl_mean,
            "itl_p95_seconds": found.itl_p95,
        }
        for name, seconds in times.items():
            promised = getattr(self, name)
            if promised is not None and seconds > promised:
                yield name, seconds, promised

    def are_met(self, found: Latency) -> bool:
        """Return whether a latency keeps all promises; where there is none, whether nothing is too busy."""
        if found.is_saturated:
            return False
        return found.utilization <= BUSY if self.is_empty else not any(self.missed(found))


class Served(Protocol):
    """What serves requests."""

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see at a rate of requests in a second."""


def most_rate(served: Served, requests: Requests, targets: Targets) -> float:
    """Return the most requests in a second for which the targets are met; 0 where they are met for none."""
    if not targets.are_met(served.latency(requests, _LEAST_RATE)):
        return 0.0
    low, high = _LEAST_RATE, _LEAST_RATE * 2
    while high < _MOST_RATE and targets.are_met(served.latency(requests, high)):
        low, high = high, high * 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if targets.are_met(served.latency(requests, middle)) else (low, middle)
    return low


def full_rate(served: Served, requests: Requests) -> float:
    """Return the requests in a second at which it is saturated."""
    low, high = 0.0, 1.0
    while high < _MOST_RATE and not served.latency(requests, high).is_saturated:
        low, high = high, high * 2
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if served.latency(requests, middle).is_saturated else (middle, high)
    return low
