"""PD408: the names in engine_args can be checked."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase with arguments for a vLLM whose names are not known."""
    if facts.image is None or facts.engine_arguments is not None:
        return
    for phase in facts.phases:
        if phase.spec.engine_args:
            known = ", ".join(sorted(facts.catalog.engine_arguments))
            yield Violation(
                f"{phase.name}.engine_args",
                f"{len(phase.spec.engine_args)} unchecked: vLLM {facts.image.vllm_version} is not "
                f"among the versions whose names are known ({known})",
                "compare them with that version's documentation",
            )


RULE = Rule(
    code="PD408",
    severity=Severity.WARNING,
    title="The names in engine_args can be checked",
    rationale="A misspelled argument is refused when the replica starts, after image and weights are there.",
    source="the catalogue, engine_arguments.yaml",
    check=check,
)
