"""How long prompts are: log-normal, cut at what the context has room for, in classes that each count with their mean.

A time is not in proportion to a length (attention is quadratic, steps are whole), so its mean and its spread are
reckoned from the classes' times.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import exp, inf, log, sqrt
from statistics import NormalDist
from typing import Final

_NORMAL: Final = NormalDist()
# The classes reach so many standard deviations below the median of the lengths, and as many beyond the lengths that
# count most in the mean of their squares.
_REACH: Final = 2.5
_CLASSES: Final = 12


@dataclass(frozen=True, slots=True)
class Length:
    """Prompts of almost the same length.

    Attributes:
        share: Their share of all prompts.
        factor: Their length, as a multiple of the stated mean.
    """

    share: float
    factor: float


@dataclass(frozen=True, slots=True)
class Times:
    """A time that depends on the length.

    Attributes:
        mean: Its mean over all prompts, in seconds.
        variation: Its standard deviation divided by the mean.
    """

    mean: float
    variation: float


@lru_cache(maxsize=256)
def lengths(variation: float, most: float) -> tuple[Length, ...]:
    """Return the classes of lengths, the shortest first.

    Args:
        variation: The lengths' standard deviation divided by their mean, before they are cut.
        most: The longest that fits, as a multiple of the mean: longer ones count as that.
    """
    spread = sqrt(log(1 + variation**2))
    if spread == 0:
        return (Length(1.0, min(1.0, most)),)
    cut = (log(most) + spread**2 / 2) / spread if most < inf else inf
    first, last = -_REACH, min(2 * spread + _REACH, cut)
    inner = [first + (last - first) * number / _CLASSES for number in range(1, _CLASSES)] if last > first else []
    bounds = [-inf, *inner, cut]
    found = []
    for low, high in pairwise(bounds):
        share = _below(high) - _below(low)
        if share > 0:
            found.append(Length(share, (_below(high - spread) - _below(low - spread)) / share))
    beyond = 1 - _below(cut)
    return (*found, Length(beyond, most)) if beyond > 0 else tuple(found)


def quantile(share: float, variation: float, most: float) -> float:
    """Return the length that so large a share of the prompts does not exceed, as a multiple of the mean."""
    spread = log(1 + variation**2)
    return min(most, exp(_NORMAL.inv_cdf(share) * sqrt(spread) - spread / 2))


def share_beyond(variation: float, most: float) -> float:
    """Return the share of prompts that are longer than so many times the mean."""
    spread = sqrt(log(1 + variation**2))
    if most == inf:
        return 0.0
    if spread == 0:
        return 0.0 if most >= 1 else 1.0
    return 1 - _below((log(most) + spread**2 / 2) / spread)


def times(seconds: Callable[[float], float], of: tuple[Length, ...]) -> Times:
    """Return the mean of a time and its variation.

    Args:
        seconds: The time of a length, which is a multiple of the mean.
        of: The classes of lengths.
    """
    found = [(each.share, seconds(each.factor)) for each in of]
    mean = sum(share * time for share, time in found)
    if mean in (0.0, inf):
        return Times(mean, 0.0)
    square = sum(share * time**2 for share, time in found)
    return Times(mean, sqrt(max(0.0, square / mean**2 - 1)))


def _below(normal: float) -> float:
    """Return the share of a normal distribution below a number of its standard deviations."""
    if normal in (inf, -inf):
        return 1.0 if normal > 0 else 0.0
    return _NORMAL.cdf(normal)
