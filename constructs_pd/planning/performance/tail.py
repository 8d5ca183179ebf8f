"""The 95th percentile of the times between tokens, where some steps take longer than the others."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

# Beyond this share of steps the 95th percentile is that of a longer one.
TAIL: Final = 0.05


def tail_of(steps: Iterable[tuple[float, float]]) -> float | None:
    """Return the time that a twentieth of all steps exceeds; none where the longer ones are fewer.

    Args:
        steps: The longer steps: the share of all that each kind is, and its time.
    """
    left = TAIL
    for share, seconds in sorted(steps, key=lambda step: -step[1]):
        left -= share
        if left < 0:
            return seconds
    return None
