"""What the planner has to say about a deployment: refusals and warnings, each with a stable code.

Everything else in the package may import this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from constructs_pd.redaction import redacted


class Severity(StrEnum):
    """How a finding is treated: an error stops the plan, a warning is printed until it is acknowledged."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One refusal or warning.

    Attributes:
        code: Stable identifier, `PD` and three digits.
        severity: Whether the plan stops.
        subject: The field or object it is about, for example `prefill.tensor_parallel`.
        message: What is wrong, with both numbers.
        remedy: What to change.
        source: Where the fact behind the rule comes from.
        location: `file:line` of the subject where the specification came from a file.
        acknowledged: The reason given for accepting a warning, if it was accepted.
        defect: The id of the known defect that it is about, or none.
    """

    code: str
    severity: Severity
    subject: str
    message: str
    remedy: str
    source: str
    location: str | None = None
    acknowledged: str | None = None
    defect: str | None = None

    @property
    def key(self) -> str:
        """What it is acknowledged by: its code, of a known defect with the defect's id, as in PD412/nixl-1862."""
        return f"{self.code}/{self.defect}" if self.defect else self.code

    def __post_init__(self) -> None:
        """Hide what looks like a credential, wherever it comes from: findings end up in build logs."""
        for name in ("subject", "message", "remedy"):
            object.__setattr__(self, name, redacted(getattr(self, name)))

    def render(self) -> str:
        """Return the finding as text for people: one line of what, one line of what to do."""
        where = f"{self.location}: " if self.location else ""
        return f"{where}{self.key} {self.severity} {self.subject}: {self.message}\n      {self.remedy}"


class Acknowledge(BaseModel):
    """Accept a warning, with a reason that a reviewer can judge."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, hide_input_in_errors=True)

    code: str = Field(
        pattern=r"^PD\d{3}(/[a-z0-9]+(-[a-z0-9]+)+)?$",
        description="the warning's code, such as PD206; of a known defect with its id, such as PD412/vllm-52234",
    )
    reason: str = Field(pattern=r"\S", description="why it is acceptable here, as text")


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return the findings in their one stable order: errors first, then by code, subject and message."""
    return tuple(
        sorted(
            findings,
            key=lambda finding: (
                finding.severity is not Severity.ERROR,
                finding.code,
                finding.subject,
                finding.message,
            ),
        )
    )


def render(findings: Iterable[Finding]) -> str:
    """Return the findings as text, in order; acknowledged ones are left out."""
    return "\n".join(finding.render() for finding in in_order(findings) if finding.acknowledged is None)


class PlanError(Exception):
    """The deployment cannot work as specified; nothing was built.

    Its text is the complete message for the user: every error and open warning at once, in a stable order.

    Attributes:
        findings: All findings, errors first.
    """

    def __init__(self, findings: Iterable[Finding]) -> None:
        self.findings = in_order(findings)
        errors = sum(finding.severity is Severity.ERROR for finding in self.findings)
        plural = "s" if errors != 1 else ""
        super().__init__(f"{errors} error{plural}, nothing was written.\n{render(self.findings)}")
