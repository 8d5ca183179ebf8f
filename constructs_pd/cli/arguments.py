"""Values of arguments that several commands take."""

from __future__ import annotations

from argparse import ArgumentTypeError


def positive_seconds(text: str) -> float:
    """Return a duration in seconds, which is above 0 and finite."""
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0
    if not 0 < seconds < float("inf"):
        raise ArgumentTypeError(f"{text!r} is no positive number of seconds")
    return seconds
