"""How what is handed over grows with a prompt: states do not, windows up to their size, all else in proportion."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Handed:
    """What is handed over of a prompt, as multiples of what the mean prompt hands over.

    Attributes:
        factor: The prompt's length, as a multiple of the stated mean.
        reads: Reads that decode posts.
        bytes: Bytes that are read.
    """

    factor: float
    reads: float
    bytes: float


def handed_of(known: tuple[Handed, ...], factor: float) -> Handed:
    """Return what is handed over of a prompt: on a straight line between the lengths that are known.

    Args:
        known: The lengths that are known, the shortest first; where there are none, all is in proportion.
        factor: The prompt's length, as a multiple of the stated mean.
    """
    if not known:
        return Handed(factor, factor, factor)
    place = bisect_left(known, factor, key=lambda each: each.factor)
    if place == len(known):
        return known[-1]
    above = known[place]
    if place == 0 or above.factor == factor:
        return above
    below = known[place - 1]
    part = (factor - below.factor) / (above.factor - below.factor)
    return Handed(
        factor, below.reads + part * (above.reads - below.reads), below.bytes + part * (above.bytes - below.bytes)
    )
