"""PD116: an engine step has room for one token of each sequence and request, and for a prompt that is not chunked."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import context_tokens, has_chunked_prefill, step_tokens
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase with too few batched tokens, or with too few sequences."""
    for phase in facts.phases:
        tokens, sequences = _tokens(facts, phase), phase.spec.max_num_seqs
        wanted = phase.spec.concurrent_requests
        if tokens is not None and sequences is not None and tokens < sequences:
            yield Violation(
                f"{phase.name}.max_num_batched_tokens",
                f"{tokens} tokens for {sequences} sequences",
                f"raise it to {sequences} or more, or lower max_num_seqs to {tokens}",
            )
        elif sequences is not None and sequences < wanted:
            yield Violation(
                f"{phase.name}.max_num_seqs",
                f"{sequences} sequences for {wanted} requests at once",
                f"raise it to {wanted} or more, or lower concurrent_requests to {sequences}",
            )
        elif sequences is None and tokens is not None and tokens < wanted:
            yield Violation(
                f"{phase.name}.max_num_batched_tokens",
                f"{tokens} tokens for {wanted} requests at once",
                f"raise it to {wanted} or more, or lower concurrent_requests to {tokens}",
            )
        yield from _without_chunks(facts, phase)


def _tokens(facts: Facts, phase: PhaseFacts) -> int | None:
    """Return the tokens of a step: as stated, else vLLM's default where it is known."""
    context = context_tokens(facts)
    if phase.instance is None or facts.engine_memory is None or context is None:
        return phase.spec.max_num_batched_tokens
    return step_tokens(phase, context, phase.instance, facts.engine_memory)


def _without_chunks(facts: Facts, phase: PhaseFacts) -> Iterator[Violation]:
    """Without chunked prefill a whole prompt must fit one step."""
    tokens, context = phase.spec.max_num_batched_tokens, context_tokens(facts)
    if has_chunked_prefill(phase) or tokens is None or context is None:
        return
    if tokens < context:
        yield Violation(
            f"{phase.name}.max_num_batched_tokens",
            f"{tokens:,} tokens for prompts of up to {context:,}, and chunked prefill is off",
            f"raise it to {context:,} or more, or leave enable_chunked_prefill out",
        )


RULE = Rule(
    code="PD116",
    severity=Severity.ERROR,
    title="An engine step has room for one token of each sequence, and for a prompt that is not chunked",
    rationale="vLLM refuses to start.",
    source="vLLM 0.26.0 config/scheduler.py, verify_max_model_len",
    check=check,
    arithmetic=(
        "max_num_batched_tokens >= max_num_seqs >= concurrent_requests; "
        "without chunked prefill max_num_batched_tokens >= max_model_len too"
    ),
)
