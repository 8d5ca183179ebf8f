"""PD234: whether the phases should be apart can be told."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.engines import unknown_speed
from constructs_pd.planning.performance.judge import advice_on
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where answers' lengths are stated and something else is missing for a prediction."""
    traffic = facts.spec.traffic
    if traffic is None or traffic.output_tokens is None or advice_on(facts) is not None:
        return
    missing = unknown_speed(facts)
    yield Violation(
        "traffic.output_tokens",
        f"{missing} is not known" if missing else "a request of the stated lengths does not fit an engine's KV cache",
        "measure the deployment itself, or choose a model and instance types of the catalogue"
        if missing
        else "state shorter requests, or choose GPUs with more memory",
    )


RULE = Rule(
    code="PD234",
    severity=Severity.WARNING,
    title="Whether the stated traffic is served well can be told",
    rationale="No latency is predicted: whether the targets are met, and whether the phases should be apart, is open.",
    source="docs/performance.md",
    check=check,
)
