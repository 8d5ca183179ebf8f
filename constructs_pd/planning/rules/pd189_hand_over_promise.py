"""PD189: decode's part of the promise has room for the hand-over."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.monitoring import hand_over_budget
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where decode is given less time than the plan reckons for the hand-over alone."""
    slo, budget = facts.spec.slo, hand_over_budget(facts)
    if slo is None or slo.ttft_decode_seconds is None or budget is None:
        return
    if slo.ttft_decode_seconds < budget.longest_seconds:
        yield Violation(
            "slo.ttft_decode_seconds",
            f"{slo.ttft_decode_seconds:g} s, and the hand-over of the longest context takes "
            f"{budget.longest_seconds:.3g} s of it with the links to itself",
            "give decode more, or accept this where prompts are shorter",
        )


RULE = Rule(
    code="PD189",
    severity=Severity.WARNING,
    title="Decode's part of the promise has room for the hand-over",
    rationale="Requests of the longest context would break the promise however few there are.",
    source="docs/hand_over.md",
    check=check,
)
