"""PD229: the stated prompts fit the context."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the mean prompt leaves no token of the context for an answer."""
    traffic, context = facts.spec.traffic, context_tokens(facts)
    if traffic is not None and context is not None and traffic.prompt_tokens >= context:
        yield Violation(
            "traffic.prompt_tokens",
            f"prompts of {traffic.prompt_tokens:,} tokens on average leave no room in a context of {context:,}",
            f"state at most {context - 1:,}, or raise model.max_model_len",
        )


RULE = Rule(
    code="PD229",
    severity=Severity.ERROR,
    title="The stated prompts fit the context",
    rationale="vLLM refuses a prompt that is as long as the context or longer.",
    source="vLLM 0.26.0 v1/engine/input_processor.py",
    check=check,
)
