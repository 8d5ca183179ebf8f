"""PD192: what traces and logs need is stated of the environment once."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.observability import observability_environment
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each variable of a pod that tracing or logs sets too."""
    needed = observability_environment(facts.spec, "head")
    for path, pod in facts.pods:
        for field, names in (("environment", pod.environment), ("secret_environment", pod.secret_environment)):
            for name in sorted(set(names) & set(needed)):
                yield Violation(
                    f"{path}.{field}.{name}",
                    f"stated twice: tracing or logs sets it to {needed[name]}",
                    "leave it out here, or leave tracing and logs.encoding out and set everything yourself",
                )


RULE = Rule(
    code="PD192",
    severity=Severity.ERROR,
    title="What traces and logs need is stated of the environment once",
    rationale="One of the two values would be lost in silence, and spans or lines with it.",
    source="this library",
    check=check,
)
