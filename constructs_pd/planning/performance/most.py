"""The most that a deployment serves."""

from __future__ import annotations

from typing import Final, Protocol

from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.targets import Targets

# To a millionth of the rate.
_HALVINGS: Final = 20
_LEAST_RATE: Final = 1e-6
_FIRST_RATE: Final = 1 / 64
_MOST_RATE: Final = 1e7


class Served(Protocol):
    """What serves requests."""

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see at a rate of requests in a second."""


def most_rate(served: Served, requests: Requests, targets: Targets) -> float:
    """Return the most requests in a second for which the targets are met; 0 where they are met for none."""
    if not targets.are_met(served.latency(requests, _LEAST_RATE)):
        return 0.0
    low, high = _LEAST_RATE, _FIRST_RATE
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
