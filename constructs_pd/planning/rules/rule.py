"""The frame of a rule: a stable code, what it refuses and why, and one pure function."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from constructs_pd.findings import Finding, Severity
from constructs_pd.planning.facts import Facts


@dataclass(frozen=True, slots=True)
class Violation:
    """One place where a rule is broken.

    Attributes:
        subject: The field, as a path in the specification.
        message: What is wrong, with both numbers.
        remedy: What to change.
        defect: The id of the known defect that it is about, or none.
        severity: Whether it stops the plan, where that differs from the rule's.
    """

    subject: str
    message: str
    remedy: str
    defect: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that a specification must satisfy.

    A rule says nothing where a fact is missing: the rule about the missing row speaks for it.

    Attributes:
        code: Stable identifier; PD1xx reads the specification alone, PD2xx the catalogue, PD3xx both phases
            together, PD4xx versions. PD0xx are mistakes in the file (`spec_file.py`).
        severity: Whether a violation stops the plan.
        title: What must hold, in one line.
        rationale: What happens in the cluster otherwise.
        source: Where that fact comes from.
        check: The rule itself.
        arithmetic: How its numbers are worked out, in plain words, of a rule that has any.
        worked: Says its numbers for a specification, one line each, whether it is violated or not.
    """

    code: str
    severity: Severity
    title: str
    rationale: str
    source: str
    check: Callable[[Facts], Iterable[Violation]]
    arithmetic: str | None = None
    worked: Callable[[Facts], Iterable[str]] | None = None

    def findings(self, facts: Facts) -> Iterator[Finding]:
        """Yield a finding for every violation."""
        return map(self.finding, self.check(facts))

    def finding(self, violation: Violation) -> Finding:
        """Return a violation as a finding with this code."""
        return Finding(
            code=self.code,
            severity=violation.severity or self.severity,
            subject=violation.subject,
            message=violation.message,
            remedy=violation.remedy,
            source=self.source,
            defect=violation.defect,
        )
