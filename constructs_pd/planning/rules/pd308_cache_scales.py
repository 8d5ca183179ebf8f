"""PD308: both phases read the KV cache with the same scales."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase that measures the scales of its KV cache itself."""
    for phase in facts.phases:
        if phase.spec.engine_args.get("calculate_kv_scales") is True:
            yield Violation(
                f"{phase.name}.engine_args.calculate_kv_scales",
                "true: each engine measures scales of its own, and 0 of them are handed over",
                "leave it out; vLLM then takes the checkpoint's scales, or 1.0",
            )


RULE = Rule(
    code="PD308",
    severity=Severity.ERROR,
    title="Both phases read the KV cache with the same scales",
    rationale="Decode reads prefill's numbers by other scales: answers are wrong, without an error.",
    source="vLLM documentation, NixlConnector Compatibility Matrix, Quantized KV cache",
    check=check,
)
