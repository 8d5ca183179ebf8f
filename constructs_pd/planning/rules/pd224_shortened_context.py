"""PD224: the longest context is the model's, or stated."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.kv_layout import DEFAULT_BLOCK_TOKENS
from constructs_pd.planning.rules import memory_terms
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where memory leaves less than the model's context and nobody stated one."""
    model, served = facts.model, context_tokens(facts)
    if model is None or served is None or facts.spec.model.max_model_len is not None:
        return
    if served <= DEFAULT_BLOCK_TOKENS:
        return  # PD203 speaks of what does not fit at all
    longest = model.max_position_embeddings
    if served < longest - longest % DEFAULT_BLOCK_TOKENS:
        yield Violation(
            "model.max_model_len",
            f"{served:,} tokens of the model's {longest:,} are served, as many as both phases have room for",
            f"state {served} if that is enough, or choose GPUs with more memory",
        )


RULE = Rule(
    code="PD224",
    severity=Severity.WARNING,
    title="The longest context is the model's, or stated",
    rationale="Longer prompts are refused, which clients may not expect of the model.",
    source="docs/memory.md",
    check=check,
    arithmetic=memory_terms.CONTEXT_ARITHMETIC,
    worked=memory_terms.worked_context,
)
