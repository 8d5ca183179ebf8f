"""What a user promises clients."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel

if TYPE_CHECKING:
    from constructs_pd.planning.performance.latency import Latency

# Without targets a deployment is full where its busiest part is this busy: queues then are some five times as long as
# at half of it.
BUSY: Final = 0.8


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
