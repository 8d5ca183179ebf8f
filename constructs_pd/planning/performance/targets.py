"""Within what requests are to be served."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Final

from constructs_pd.planning.performance.latency import Latency
from constructs_pd.planning.spec_monitoring import Slo

# Without targets a deployment is full where its busiest part is this busy: queues then are some five times as long as
# at half of it.
BUSY: Final = 0.8


@dataclass(frozen=True, slots=True)
class Targets:
    """Promises to clients, in seconds. What is none is not promised.

    A specification promises percentiles, which are measured too; medians and means are those of published studies.

    Attributes:
        ttft_p50_seconds: The median time to the first token.
        ttft_p95_seconds: The time to the first token that 95 % of the requests do not exceed.
        itl_seconds: The mean time between tokens.
        itl_p95_seconds: The time between tokens that 95 % of them do not exceed.
    """

    ttft_p50_seconds: float | None = None
    ttft_p95_seconds: float | None = None
    itl_seconds: float | None = None
    itl_p95_seconds: float | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is promised."""
        return astuple(self) == (None, None, None, None)

    def missed(self, found: Latency) -> Iterator[tuple[str, float, float]]:
        """Yield each promise that a latency breaks: its field, the time, and what was promised."""
        for name, seconds, promised in self._promises(found):
            if seconds > promised:
                yield name, seconds, promised

    def worst(self, found: Latency) -> float:
        """Return how many times as long as promised the worst time is; 0 where nothing is promised."""
        return max((seconds / promised for _, seconds, promised in self._promises(found)), default=0.0)

    def are_met(self, found: Latency) -> bool:
        """Return whether a latency keeps all promises; where there is none, whether nothing is too busy."""
        if found.is_saturated:
            return False
        return found.utilization <= BUSY if self.is_empty else not any(self.missed(found))

    def _promises(self, found: Latency) -> Iterator[tuple[str, float, float]]:
        promises = (
            ("ttft_p50_seconds", found.ttft_p50, self.ttft_p50_seconds),
            ("ttft_p95_seconds", found.ttft_p95, self.ttft_p95_seconds),
            ("itl_seconds", found.itl_mean, self.itl_seconds),
            ("itl_p95_seconds", found.itl_p95, self.itl_p95_seconds),
        )
        for name, seconds, promised in promises:
            if promised is not None:
                yield name, seconds, promised


def targets_of(slo: Slo | None) -> Targets:
    """Return what was promised of times, which is what requests are to be served within."""
    if slo is None:
        return Targets()
    return Targets(ttft_p95_seconds=slo.ttft_p95_seconds, itl_p95_seconds=slo.itl_p95_seconds)
