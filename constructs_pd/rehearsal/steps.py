"""The steps of a rehearsal."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from constructs_pd.rehearsal.report import Step


@dataclass
class Steps:
    """Tells of steps and keeps their durations.

    Attributes:
        tell: Where progress goes, a line at a time.
        done: What is done.
    """

    tell: Callable[[str], None]
    done: list[Step] = field(default_factory=list)

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """Tell of a step, and keep its duration if it ends well."""
        self.tell(name)
        start = time.monotonic()
        yield
        self.done.append(Step(name, round(time.monotonic() - start, 1)))
