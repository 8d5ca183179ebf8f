"""Versions as numbers: 1.10 comes after 1.9."""

from __future__ import annotations


def version_key(version: str) -> tuple[int, ...]:
    """Return what a version of numbers and dots is ordered by."""
    return tuple(int(part) for part in version.split("."))
