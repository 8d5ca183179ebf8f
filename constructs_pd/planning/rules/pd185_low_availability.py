"""PD185: an availability is high enough for its alerts to fire."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.monitoring import FASTEST_BURN
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a promise whose page would ask for more errors than there are requests."""
    slo = facts.spec.slo
    if slo is None or slo.availability is None:
        return
    share = FASTEST_BURN * (1 - slo.availability)
    if share >= 1:
        yield Violation(
            "slo.availability",
            f"{slo.availability:g} allows {1 - slo.availability:.2g} of requests to fail: {FASTEST_BURN:g} times that, "
            f"which the first alert waits for, is {share:.3g} of them, and there are no more than 1",
            f"promise more than {1 - 1 / FASTEST_BURN:.4g}, such as 0.99",
        )


RULE = Rule(
    code="PD185",
    severity=Severity.ERROR,
    title="An availability is high enough for its alerts to fire",
    rationale="The endpoint could answer nothing at all, and nobody would be called.",
    source="The Site Reliability Workbook (Google, 2018), chapter 5, table 5-8",
    check=check,
)
