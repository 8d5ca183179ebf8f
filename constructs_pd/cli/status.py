"""How a command ends."""

from __future__ import annotations

from typing import Final

ERRORS: Final = 1
USAGE_ERROR: Final = 2
# What a shell reports of a program that SIGINT ended.
INTERRUPTED: Final = 130
