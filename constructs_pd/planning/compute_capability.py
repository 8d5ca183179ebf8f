"""NVIDIA's compute capabilities: two numbers, written with a dot."""

from __future__ import annotations


def capability(stated: str) -> tuple[int, int]:
    """Return the numbers of a compute capability, such as (8, 9) of "8.9", which compare as they should.

    Args:
        stated: As a row of the catalogue has it.
    """
    major, _, minor = stated.partition(".")
    return int(major), int(minor)
