"""PD180: what was promised is measured."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a promise over which no rule watches."""
    stated = facts.spec.monitoring
    if facts.spec.slo is None or (stated is not None and stated.rules):
        return
    if stated is None:
        yield Violation("slo", "monitoring is not stated: 0 rules measure it", "state monitoring: {}, or leave slo out")
    else:
        yield Violation("slo", "monitoring.rules is false: 0 rules measure it", "set monitoring.rules to true")


RULE = Rule(
    code="PD180",
    severity=Severity.ERROR,
    title="What was promised is measured",
    rationale="Nobody would learn that a promise is broken.",
    source="this library",
    check=check,
)
