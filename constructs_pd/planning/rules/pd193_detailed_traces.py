"""PD193: detailed traces have somewhere to go."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

ARGUMENT: Final = "collect_detailed_traces"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each engine that is to collect detailed traces, and send none."""
    if facts.spec.tracing is not None:
        return
    for phase in facts.phases:
        if phase.spec.engine_args.get(ARGUMENT):
            yield Violation(
                f"{phase.name}.engine_args.{ARGUMENT}",
                "1 argument about traces, and 0 collectors: vLLM refuses it",
                "state tracing, or leave it out",
            )


RULE = Rule(
    code="PD193",
    severity=Severity.ERROR,
    title="Detailed traces have somewhere to go",
    rationale="The engine ends while it starts, and again on every attempt.",
    source="vLLM 0.26.0 config/observability.py, _validate_tracing_config",
    check=check,
)
