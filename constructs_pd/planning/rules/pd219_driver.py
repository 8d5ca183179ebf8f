"""PD219: the machine image's driver knows the GPU."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase on EKS's own image whose GPUs need a newer driver."""
    for phase in facts.phases:
        needed = phase.instance.gpu.driver_branch if phase.instance else None
        if needed is None or phase.spec.ami_id is not None:
            continue
        if facts.ami.driver_branch < needed:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{phase.spec.instance_type} needs driver {needed}, {facts.ami.ami_type} has {facts.ami.driver_branch}",
                f"name an image with driver {needed} or later in {phase.name}.ami_id, or choose another type",
            )


RULE = Rule(
    code="PD219",
    severity=Severity.ERROR,
    title="The machine image's driver knows the GPU",
    rationale="The node joins without GPUs: nvidia.com/gpu is never advertised, and the pods stay Pending.",
    source="EKS user guide as quoted in NVIDIA/aicr PR#2743",
    check=check,
)
