"""Help for a name that is not known: the known names that look like it."""

from collections.abc import Iterable
from difflib import get_close_matches


def near_names(name: str, known: Iterable[str]) -> str:
    """Return the near misses among the known names as a remedy, or an empty text."""
    near = get_close_matches(name, sorted(known), n=3, cutoff=0.7)
    return f"perhaps {' or '.join(near)}" if near else ""


def known_names(name: str, known: Iterable[str]) -> str:
    """Return the near misses among the known names, else all of them."""
    names = sorted(known)
    return near_names(name, names) or f"known are {', '.join(names)}"
