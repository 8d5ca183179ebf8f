"""PD219: the machine image's driver knows the GPU."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.drivers import node_driver
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose GPUs need a newer driver than its nodes run."""
    for phase in facts.phases:
        needed, driver = phase.instance.gpu.driver_branch if phase.instance else None, node_driver(phase, facts)
        if needed is None or driver is None or driver >= needed:
            continue
        release = facts.spec.nodes.ami_release_version
        image = phase.spec.ami_id or f"{facts.ami.ami_type}{f' {release}' if release else ''}"
        yield Violation(
            f"{phase.name}.instance_type",
            f"{phase.spec.instance_type} needs driver {needed}, {image} has {driver}",
            f"{_newer_release(facts, needed)}name an image with driver {needed} or later in {phase.name}.ami_id, "
            "or choose another type",
        )


def _newer_release(facts: Facts, needed: int) -> str:
    newest = facts.ami.newer_driver_branch
    if newest is None or newest < needed:
        return ""
    return f"use EKS's image in a release of {facts.ami.newer_driver_since} or later, "


RULE = Rule(
    code="PD219",
    severity=Severity.ERROR,
    title="The machine image's driver knows the GPU",
    rationale="The node joins without GPUs: nvidia.com/gpu is never advertised, and the pods stay Pending.",
    source="EKS user guide as quoted in NVIDIA/aicr PR#2743; awslabs/amazon-eks-ami#2768, release v20260917",
    check=check,
)
