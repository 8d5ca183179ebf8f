"""PD107: engine_args holds nothing that the planner decides."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.owned import ENGINE_ARGUMENTS
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each argument that has a field of its own or must not be set."""
    for phase in facts.phases:
        for name in sorted(set(phase.spec.engine_args) & set(ENGINE_ARGUMENTS)):
            yield Violation(
                f"{phase.name}.engine_args.{name}", "the planner decides this argument", ENGINE_ARGUMENTS[name]
            )


RULE = Rule(
    code="PD107",
    severity=Severity.ERROR,
    title="engine_args holds nothing that the planner decides",
    rationale="Two places for one value end in two values: the phases then refuse each other, or the hand-over is off.",
    source="vLLM 0.26.0 compatibility hash; Ray 2.58.0 vllm_models.py",
    check=check,
)
