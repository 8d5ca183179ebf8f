"""Numbers beside each other in a sentence: with so many digits that those which differ look different."""

from __future__ import annotations

from typing import Final

_MOST_DIGITS: Final = 9
# Times up to this many milliseconds have a digit after the point.
_SHORT_MS: Final = 100
# What differs by less is the same: predictions are found by halving, to a millionth.
_SAME: Final = 1e-4


def is_same(first: float, second: float) -> bool:
    """Return whether two predictions are the same but for how they were found."""
    return abs(first - second) <= _SAME * max(abs(first), abs(second))


def counted(number: int, of: str) -> str:
    """Return a number of things: 1 engine, 2 engines."""
    return f"{number:,} {of}" if number == 1 else f"{number:,} {of}s"


def times(*seconds: float) -> tuple[str, ...]:
    """Return times in milliseconds, with so many digits that those which are not the same look different."""
    found = [each * 1000 for each in seconds]
    return tuple(f"{text} ms" for text in _written(found, [1 if each < _SHORT_MS else 0 for each in found]))


def rates(*each_second: float) -> tuple[str, ...]:
    """Return numbers of requests a second, likewise."""
    return _written(list(each_second), [2 for _ in each_second])


def beyond(predicted: float, promised: float) -> tuple[str, str]:
    """Return a time in seconds that is longer than a promise, and the promise as it was stated."""
    text = ""
    for digits in range(3, _MOST_DIGITS + 1):
        text = f"{predicted:.{digits}g}"
        if float(text) > promised:
            break
    return f"{text} s", f"{promised:g} s"


def _written(numbers: list[float], digits: list[int]) -> tuple[str, ...]:
    texts: list[str] = []
    for more in range(_MOST_DIGITS):
        texts = [f"{number:,.{each + more}f}" for number, each in zip(numbers, digits, strict=True)]
        if all(
            is_same(first, second) or texts[number] != texts[other]
            for number, first in enumerate(numbers)
            for other, second in enumerate(numbers[:number])
        ):
            break
    return tuple(texts)
