"""PD216: the GPUs run bfloat16 and FlashAttention."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

LEAST_MAJOR = 8


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each custom row with an older GPU."""
    for index, row in enumerate(facts.spec.custom_instances):
        stated = row.gpu.compute_capability
        if capability(stated)[0] < LEAST_MAJOR:
            yield Violation(
                f"custom_instances.{index}.gpu.compute_capability",
                f"{stated} of {row.gpu.name}, and vLLM's attention backends need {LEAST_MAJOR}.0",
                "choose an instance type with newer GPUs",
            )


RULE = Rule(
    code="PD216",
    severity=Severity.ERROR,
    title="The GPUs run bfloat16 and FlashAttention",
    rationale="The engine refuses to start, or falls back to a backend that nobody has tried with the hand-over.",
    source="vLLM 0.26.0 v1/attention/backends/flash_attn.py, supports_compute_capability; platforms/cuda.py, "
    "check_if_supports_dtype",
    check=check,
)
