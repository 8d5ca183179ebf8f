"""What a rehearsal found, for people and for programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.engines import EngineName
from constructs_pd.rehearsal.survival import Survival


@dataclass(frozen=True)
class Step:
    """A part of the rehearsal and how long it took.

    Attributes:
        name: What was done.
        seconds: Duration, in seconds.
    """

    name: str
    seconds: float


@dataclass(frozen=True)
class Placed:
    """A replica, where it ran and what it did.

    Attributes:
        deployment: Serve deployment.
        node: The node's name in the rehearsal.
        offers: What the node offers Ray.
        computed_tokens: Tokens of prompts that it computed.
        handed_over_tokens: Tokens of prompts whose KV cache it fetched.
        transferred_bytes: Size of what it fetched, in bytes, estimated.
        generated_tokens: Tokens that it generated.
    """

    deployment: str
    node: str
    offers: str
    computed_tokens: int
    handed_over_tokens: int
    transferred_bytes: int
    generated_tokens: int


@dataclass(frozen=True)
class Report:
    """Everything.

    Attributes:
        deployment: Name of the deployment that was rehearsed.
        engine: The engine that stood in for the GPUs'.
        steps: Durations.
        placed: Replicas.
        checks: What was looked at.
        survived: What was lost on purpose.
    """

    deployment: str
    engine: EngineName
    steps: Sequence[Step]
    placed: Sequence[Placed]
    checks: Sequence[Check]
    survived: Sequence[Survival] = ()

    @property
    def passed(self) -> bool:
        """Whether every check passed."""
        return all(check.passed for check in self.checks)

    def as_data(self) -> dict[str, Any]:
        """Return the report as plain data."""
        return {**asdict(self), "passed": self.passed}
