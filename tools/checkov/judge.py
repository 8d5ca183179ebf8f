"""What checkov finds and what is accepted: neither may lack the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import yaml

ACCEPTED = Path(__file__).with_name("accepted.yaml")


@dataclass(frozen=True)
class Failed:
    """A check that failed, and of what."""

    check: str
    name: str
    resource: str


@dataclass(frozen=True)
class Accepted:
    """A check whose failures are accepted, of resources whose names match one of the patterns."""

    check: str
    resources: tuple[str, ...]
    reason: str

    def covers(self, failed: Failed) -> bool:
        """Return whether a failure is one of these."""
        return failed.check == self.check and any(fnmatchcase(failed.resource, named) for named in self.resources)


def accepted() -> tuple[Accepted, ...]:
    """Return what is accepted."""
    rows = yaml.safe_load(ACCEPTED.read_text(encoding="utf-8"))
    return tuple(Accepted(row["check"], tuple(row["resources"]), row["reason"]) for row in rows)


def failures(report: Any) -> Iterator[Failed]:
    """Yield every failed check of checkov's report, which is a list where it read more than one kind of file.

    Raises:
        ValueError: checkov read nothing, or could not read a file.
    """
    parts = report if isinstance(report, list) else [report]
    for part in parts:
        if "results" not in part or part["summary"]["parsing_errors"]:
            raise ValueError("checkov read nothing, or could not read a file")
        for found in part["results"]["failed_checks"]:
            yield Failed(found["check_id"], found["check_name"], found["resource"])


def judge(failed: Iterable[Failed], rows: Iterable[Accepted]) -> list[str]:
    """Return what is wrong, one line each: failures that nobody accepted, and what is accepted and does not occur."""
    found, known = list(failed), list(rows)
    unknown = [f"{one.check} {one.resource}: {one.name}" for one in found if not any(row.covers(one) for row in known)]
    stale = [
        f"{row.check} {pattern}: accepted, and there are 0 such failures"
        for row in known
        for pattern in row.resources
        if not any(row.check == one.check and fnmatchcase(one.resource, pattern) for one in found)
    ]
    return sorted(unknown) + sorted(stale)
