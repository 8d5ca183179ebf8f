"""PD108: engine_args holds names that the image's vLLM knows."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.owned import ENGINE_ARGUMENTS
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import near_names


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each name that is neither an engine's nor a front end's argument."""
    if facts.engine_arguments is None:
        return
    known = facts.engine_arguments.engine | facts.engine_arguments.frontend
    for phase in facts.phases:
        for name in sorted(set(phase.spec.engine_args) - known - set(ENGINE_ARGUMENTS)):
            yield Violation(
                f"{phase.name}.engine_args.{name}",
                f"vLLM {facts.engine_arguments.vllm_version} has no such argument among its {len(known)}",
                near_names(name, known) or "remove it, or look its name up in vLLM's documentation",
            )


RULE = Rule(
    code="PD108",
    severity=Severity.ERROR,
    title="engine_args holds names that the image's vLLM knows",
    rationale="Ray Serve LLM refuses an unknown argument when the replica starts, after image and weights are there.",
    source="the catalogue, engine_arguments.yaml",
    check=check,
)
