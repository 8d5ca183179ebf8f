"""A check: one property of the API, with a stable id."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from constructs_pd.conformance.session import Session

# Where the schemas and paths that checks name as their source are defined.
SPECIFICATION: Final = "OpenAI's API specification 2.3.0 (openai/openai-openapi@f85dbe2, openapi.json, 2026-08-21)"


@dataclass(frozen=True, slots=True)
class Check:
    """One property of the API.

    Attributes:
        id: Stable identifier, `CF` and three digits; the first tells the subject.
        title: What must hold, in one line.
        source: A schema or path of SPECIFICATION, or where else it comes from.
        run: Returns what it saw. Raises CheckFailedError or NotSupportedError.
    """

    id: str
    title: str
    source: str
    run: Callable[[Session], str]


def check(id: str, title: str, source: str) -> Callable[[Callable[[Session], str]], Check]:
    """Make a function a check."""

    def made(run: Callable[[Session], str]) -> Check:
        return Check(id, title, source, run)

    return made
