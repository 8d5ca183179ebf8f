"""PD207: the promised context is one that the model was trained for."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation when max_model_len exceeds the model's position embeddings."""
    if any(phase.spec.engine_args.get("hf_overrides") for phase in facts.phases):
        return  # they can stretch the model's context
    wanted = facts.spec.model.max_model_len
    if facts.model is not None and wanted is not None and wanted > facts.model.max_position_embeddings:
        longest = facts.model.max_position_embeddings
        yield Violation(
            "model.max_model_len",
            f"{wanted:,} tokens, {facts.model.model} was trained for {longest:,}",
            f"lower it to {longest:,} or less",
        )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the context that is promised and the model's."""
    stated = facts.spec.model.max_model_len
    promised = "not stated, as much as fits" if stated is None else f"{stated:,} tokens"
    if facts.model is None:
        yield f"{facts.spec.model.source} is not known, see PD205"
    else:
        yield f"max_model_len {promised}, {facts.model.model} was trained for {facts.model.max_position_embeddings:,}"


RULE = Rule(
    code="PD207",
    severity=Severity.ERROR,
    title="The context is one that the model was trained for",
    rationale="vLLM refuses to start with a max_model_len above the model's own, minutes after the pods started.",
    source="vLLM 0.26.0 config/model.py, _get_and_verify_max_len",
    check=check,
    arithmetic="max_model_len <= max_position_embeddings of the model's config.json",
    worked=worked,
)
