"""What a check says of an endpoint."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from enum import StrEnum
from typing import Any


class Status(StrEnum):
    """How a check ended; only a failure is a regression."""

    PASSED = "passed"
    FAILED = "failed"
    UNSUPPORTED = "unsupported"
    KNOWN_DEVIATION = "known_deviation"


@dataclass(frozen=True, slots=True)
class Result:
    """One check's outcome.

    Attributes:
        check: Its id, such as CF302.
        title: What must hold.
        status: How it ended.
        expected: What was expected, as narrowly as the check can say it.
        actual: What the endpoint answered.
        seconds: How long it took.
        note: What a reader should know besides, such as a known deviation's source.
    """

    check: str
    title: str
    status: Status
    expected: str
    actual: str
    seconds: float
    note: str | None = None


class CheckFailedError(Exception):
    """The endpoint answered otherwise than expected."""

    def __init__(self, expected: str, actual: str) -> None:
        super().__init__(f"expected {expected}, got {actual}")
        self.expected = expected
        self.actual = actual


class RefusedError(CheckFailedError):
    """The endpoint refused a request, with status 400, that it should have answered."""


class NotSupportedError(Exception):
    """The endpoint does not offer what the check is about, or it cannot be told whether it does."""


def require(holds: bool, expected: str, actual: object) -> None:
    """Fail the check unless something holds.

    Raises:
        CheckFailedError: It does not hold.
    """
    if not holds:
        raise CheckFailedError(expected, actual if isinstance(actual, str) else repr(actual))


def is_logprob(value: Any) -> bool:
    """Return whether a value is a finite number of at most 0."""
    return type(value) in (int, float) and -sys.float_info.max <= value <= 0
