"""PD403: the Kubernetes version is under standard support."""

from collections.abc import Iterator
from datetime import date

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when the version is under extended support."""
    row = facts.kubernetes
    if row is not None and row.support == "extended":
        newest = max(
            (known for known in facts.catalog.kubernetes.values() if known.support == "standard"),
            key=lambda known: int(known.version.split(".")[1]),
        )
        yield Violation(
            "kubernetes_version",
            f"{row.version} left standard support{_day(' on', row.standard_until)}; EKS charges for extended support"
            f"{_day(' until', row.extended_until)}",
            f"move to {newest.version}",
        )


def _day(word: str, day: date | None) -> str:
    return f"{word} {day}" if day else ""


RULE = Rule(
    code="PD403",
    severity=Severity.WARNING,
    title="The Kubernetes version is under standard support",
    rationale="Extended support costs extra per cluster and hour, and ends with a forced upgrade.",
    source="the catalogue, kubernetes.yaml",
    check=check,
)
