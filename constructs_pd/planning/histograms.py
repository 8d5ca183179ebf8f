"""The boundaries of vLLM's histograms, in seconds: between two of them Prometheus only guesses.

vLLM 0.26.0 v1/metrics/loggers.py and kv_connector/v1/nixl/stats.py, read on 2026-11-30. Ray exports a histogram's
buckets as they are, but its sum from the middles of them (Ray 2.58.0 _private/telemetry/
open_telemetry_metric_recorder.py, record_histogram_aggregated_batch): a mean is as coarse as its buckets.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from typing import Final

TTFT: Final = (
    *(0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1, 0.25, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0),
)
ITL: Final = (
    *(0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75),
    *(1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0),
)
NIXL_TRANSFER: Final = (0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.2, 0.3, 0.5, 0.75, 1.0, 5.0)


def around(seconds: float, boundaries: tuple[float, ...]) -> tuple[float | None, float]:
    """Return the boundaries below and above a time, the same twice where it is one; none below the first.

    Raises:
        ValueError: It is above the last: nothing is known there.
    """
    if seconds > boundaries[-1]:
        raise ValueError(f"{seconds} s is above the last boundary, {boundaries[-1]} s")
    above = boundaries[bisect_left(boundaries, seconds)]
    below = bisect_right(boundaries, seconds)
    return (boundaries[below - 1] if below else None), above


def at_least(seconds: float, boundaries: tuple[float, ...]) -> float | None:
    """Return the first boundary that is no shorter than a time; none where all are."""
    return next((boundary for boundary in boundaries if boundary >= seconds), None)
