"""PD231: a hybrid model with CUDA graphs has a state for each sequence."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import most_sequences, settled
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase that states more sequences than its KV cache has blocks for states."""
    for phase in facts.phases:
        found, stated = settled(facts, phase), phase.spec.max_num_seqs
        if found is None or stated is None or stated > found.shape.max_num_batched_tokens:
            continue  # PD116 speaks of steps that are too small
        if found.requests < phase.spec.concurrent_requests:
            continue  # PD203 speaks of what does not fit
        most = most_sequences(found)
        if stated > most:
            yield Violation(
                f"{phase.name}.max_num_seqs",
                f"{stated:,} sequences, and the KV cache has blocks for the states of {most:,}",
                f"lower it to {most:,} or leave it out, or set enforce_eager to true",
            )


RULE = Rule(
    code="PD231",
    severity=Severity.ERROR,
    title="A hybrid model with CUDA graphs has a state for each sequence",
    rationale="vLLM refuses to start: max_num_seqs exceeds the available Mamba cache blocks.",
    source="vLLM 0.26.0 v1/worker/gpu_model_runner.py; start-up logs of Qwen3.8-27B in benchmarks/start_up_logs.yaml",
    check=check,
)
