"""Versions as numbers: 1.10 comes after 1.9."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

# What an image holds at least (PD407): the manifests were checked with these.
OLDEST_IN_AN_IMAGE: Final[Mapping[str, str]] = {"ray": "2.58.0", "vllm": "0.26.0", "nixl": "1.3.1"}


def version_key(version: str) -> tuple[int, ...]:
    """Return what a version of numbers and dots is ordered by."""
    return tuple(int(part) for part in version.split("."))
