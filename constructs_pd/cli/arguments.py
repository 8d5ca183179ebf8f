"""Values of arguments that several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError
from typing import Final

# A week. Sockets take no more than 2**31 ms (CPython 3.13, Modules/socketmodule.c, socket_parse_timeout).
LONGEST_SECONDS: Final = 604_800


def positive_seconds(text: str) -> float:
    """Return a duration in seconds, which is above 0 and no more than LONGEST_SECONDS."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no positive number of seconds")
    if seconds > LONGEST_SECONDS:
        raise ArgumentTypeError(f"{text} s are more than a week, which has {LONGEST_SECONDS} s")
    return seconds
