"""PD202: one engine's GPUs fit one node."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose engine wants more GPUs than its node has."""
    for phase in facts.phases:
        wanted = phase.tensor_parallel
        if phase.instance is None or wanted is None or wanted <= phase.instance.gpu.count:
            continue
        gpu = phase.instance.gpu
        yield Violation(
            f"{phase.name}.tensor_parallel",
            f"{wanted} GPUs, {phase.instance.instance_type} has {gpu.count} x {gpu.name}",
            f"lower tensor_parallel to {gpu.count}, or choose an instance type with {wanted} GPUs",
        )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the GPUs of each phase."""
    for phase in facts.phases:
        if phase.instance is None:
            yield f"{phase.name}: {phase.spec.instance_type} is not known, see PD201"
        else:
            gpu = phase.instance.gpu
            yield f"{phase.name}: tensor_parallel {phase.tensor_parallel}, {gpu.count} x {gpu.name}"


RULE = Rule(
    code="PD202",
    severity=Severity.ERROR,
    title="One engine's GPUs fit one node",
    rationale="The placement group asks one node for more GPUs than any node has and waits for ever.",
    source="Ray 2.58.0 vllm_models.py, placement_bundles with STRICT_PACK",
    check=check,
    arithmetic="tensor_parallel <= GPUs of the instance type, for each phase",
    worked=worked,
)
