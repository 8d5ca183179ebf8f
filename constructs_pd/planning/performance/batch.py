"""How many requests an engine answers at once at a rate: Little's law with the time that a token then takes."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, isfinite
from typing import Final

# To a millionth of the largest batch. Some six estimates are enough; the bound is for curves that bend sharply.
_EXACT: Final = 1e-6
_ESTIMATES: Final = 60


def batch_at(
    rate: float, output_tokens: float, most: float, token_seconds: Callable[[float], float | None]
) -> float | None:
    """Return the mean number of requests that are answered at once, or none where the engine cannot keep up.

    Args:
        rate: Requests that the engine gets in a second.
        output_tokens: Mean tokens of an answer.
        most: The most requests at once.
        token_seconds: The time between two tokens with so many requests at once; none where there is no end to it.
    """

    def spare(batch: float) -> float:
        """Return how many more are answered at once than Little's law asks for; less than 0 is too slow."""
        seconds = token_seconds(batch)
        return -inf if seconds is None else batch - rate * output_tokens * seconds

    if rate <= 0:
        return 0.0
    low, high = 0.0, most
    less, more = spare(low), spare(high)
    if more < 0:
        return None
    before = 0.0
    for _ in range(_ESTIMATES):
        # The Illinois method: where a straight line has no spare, leaning away from an end that stays twice.
        middle = (low * more - high * less) / (more - less) if isfinite(less) and more > less else (low + high) / 2
        found = spare(middle)
        if abs(found) <= _EXACT * most:
            return middle
        if found < 0:
            low, less, more = middle, found, more / 2 if before < 0 else more
        else:
            high, more, less = middle, found, less / 2 if before > 0 else less
        before = found
    return high
