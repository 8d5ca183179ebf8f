"""PD112: a variable is given once."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each variable that is both literal and from a Secret."""
    for path, pod in facts.pods:
        for name in sorted(set(pod.environment) & set(pod.secret_environment)):
            yield Violation(
                f"{path}.secret_environment.{name}",
                "given 2 times: also in environment",
                "keep the one in secret_environment",
            )


RULE = Rule(
    code="PD112",
    severity=Severity.ERROR,
    title="A variable is given once",
    rationale="A container has a variable once: the other value would be lost without a word.",
    source="Kubernetes API, Container.env (a list merged by name)",
    check=check,
)
