"""The fewest engines of each phase with which a workload is served within its targets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from constructs_pd.planning.performance.acceptance import Acceptance
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.latency import Requests

# More of decode than it needs may save a node of prefill: so many more are tried.
_MORE_DECODE: Final = 4


def fewest_apart(
    served: Disaggregated,
    requests: Requests,
    rate: float,
    asked: Acceptance,
    most: int,
    price: Callable[[int, int], float],
) -> tuple[int, int] | None:
    """Return the cheapest numbers of prefill and decode engines; none where not even the most are enough.

    More engines of either phase never make it slower, so each number is found by halving.

    Args:
        served: The phases, with any number of engines.
        requests: The requests.
        rate: How many arrive in a second.
        asked: When they are enough.
        most: The most engines of a phase.
        price: What numbers of prefill and decode engines cost.
    """

    def is_enough(prefill: int, decode: int) -> bool:
        found = served.with_engines(prefill, decode)
        return asked.is_carried(prefill, decode) and asked.is_met(found.latency(requests, rate))

    least_decode = _fewest(lambda decode: is_enough(most, decode), most)
    if least_decode is None:
        return None
    pairs = []
    for decode in range(least_decode, min(most, least_decode + _MORE_DECODE) + 1):
        prefill = _fewest(lambda number, decode=decode: is_enough(number, decode), most)  # type: ignore[misc]
        if prefill is not None:
            pairs.append((prefill, decode))
    return min(pairs, key=lambda pair: (price(*pair), pair), default=None)


def fewest_together(engine: Aggregated, requests: Requests, rate: float, asked: Acceptance, most: int) -> int | None:
    """Return the fewest nodes that serve both phases, each with these engines; none where the most are too few."""

    def is_enough(nodes: int) -> bool:
        found = Aggregated(engine.engine, engine.engines * nodes)
        return asked.is_met(found.latency(requests, rate))

    return _fewest(is_enough, most)


def _fewest(is_enough: Callable[[int], bool], most: int) -> int | None:
    if not is_enough(most):
        return None
    low, high = 0, most
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high
