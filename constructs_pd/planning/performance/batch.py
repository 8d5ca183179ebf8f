"""How many requests an engine answers at once at a rate: Little's law with the time that a token then takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

# To a millionth of the largest batch.
_HALVINGS: Final = 20


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

    def keeps_up(batch: float) -> bool:
        seconds = token_seconds(batch)
        return seconds is not None and batch >= rate * output_tokens * seconds

    if rate <= 0:
        return 0.0
    if not keeps_up(most):
        return None
    low, high = 0.0, most
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if keeps_up(middle) else (middle, high)
    return high
