"""What ends a rehearsal before its report: a message for people, never a traceback."""

from __future__ import annotations


class RehearsalError(Exception):
    """A rehearsal cannot start or go on.

    Attributes:
        message: What is wrong, with both numbers where there are any.
        remedy: What to do about it.
    """

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}\n      {remedy}")
        self.message = message
        self.remedy = remedy


class LeftBehindError(RehearsalError):
    """A rehearsal's processes and files may still be there."""
