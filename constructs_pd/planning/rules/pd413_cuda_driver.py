"""PD413: the machine image's driver runs the CUDA in the container image."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.drivers import node_driver
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose driver is older than the image's CUDA needs."""
    image, cuda = facts.image, facts.cuda
    if image is None or cuda is None:
        return
    for phase in facts.phases:
        driver = node_driver(phase, facts)
        if driver is not None and driver < cuda.least_driver_branch:
            ami = phase.spec.ami_id or facts.ami.ami_type
            yield Violation(
                f"{phase.name}.ami_id" if phase.spec.ami_id else "image.tag",
                f"{image.tag} holds CUDA {image.cuda_version}, which needs driver {cuda.least_driver_branch}; {ami} of "
                f"{phase.name} has {driver}",
                "use a machine image with a newer driver, or a container image with an older CUDA",
            )


RULE = Rule(
    code="PD413",
    severity=Severity.ERROR,
    title="The machine image's driver runs the CUDA in the container image",
    rationale="The engine finds no usable GPU: the CUDA driver version is insufficient for the CUDA runtime version.",
    source="NVIDIA CUDA Compatibility, Minor Version Compatibility, Table 1; awslabs/amazon-eks-ami#2437",
    check=check,
)
