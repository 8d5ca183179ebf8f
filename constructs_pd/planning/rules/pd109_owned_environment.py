"""PD109: the environment holds nothing that the planner decides or that would do harm."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.owned import ENVIRONMENT
from constructs_pd.planning.rules.rule import Rule, Violation

ALLOCATOR = "PYTORCH_CUDA_ALLOC_CONF"
MOVING_MEMORY = "expandable_segments:true"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each variable that has a field of its own or must not be set."""
    for path, pod in facts.pods:
        for field, names in (("environment", pod.environment), ("secret_environment", pod.secret_environment)):
            for name in sorted(set(names) & set(ENVIRONMENT)):
                yield Violation(f"{path}.{field}.{name}", "the planner decides this variable", ENVIRONMENT[name])
        if MOVING_MEMORY in pod.environment.get(ALLOCATOR, "").lower():
            yield Violation(
                f"{path}.environment.{ALLOCATOR}",
                f"{MOVING_MEMORY} moves the memory that NIXL has registered",
                "leave this setting out (vLLM 0.26.0 config/vllm.py, _verify_kv_transfer_compat)",
            )


RULE = Rule(
    code="PD109",
    severity=Severity.ERROR,
    title="The environment holds nothing that the planner decides or that would do harm",
    rationale="Some of these are ignored, some switch the hand-over off, some make KubeRay refuse the resource.",
    source="field reports named in each remedy; KubeRay 1.7.0 validation.go",
    check=check,
)
