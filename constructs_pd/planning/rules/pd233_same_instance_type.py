"""PD233: both phases stand on the same instance type."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the phases' instance types differ."""
    if any(phase.instance is None for phase in facts.phases):
        return
    prefill, decode = (phase.spec.instance_type for phase in facts.phases)
    if prefill != decode:
        yield Violation(
            "decode.instance_type",
            f"prefill stands on {prefill}, decode on {decode}",
            "choose one of them for both, unless `constructs-pd size` shows that the pair is cheaper; or accept it",
        )


RULE = Rule(
    code="PD233",
    severity=Severity.WARNING,
    title="Both phases stand on the same instance type",
    rationale="Capacity, quotas and spare nodes of one phase are then of no use to the other, the slower network of "
    "the two decides the hand-over, and nobody publishes what such pairs do under vLLM over EFA.",
    source="docs/hand_over.md, the slower end decides; AWS's ray-llm samples, which have one type for both phases",
    check=check,
)
