"""PD418: a driver is stated of an AMI of one's own."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase that states a driver and no AMI."""
    for phase in facts.phases:
        if phase.spec.ami_driver_branch is not None and phase.spec.ami_id is None:
            yield Violation(
                f"{phase.name}.ami_driver_branch",
                f"{phase.spec.ami_driver_branch} without ami_id: EKS's image has the driver that EKS chose",
                "remove it, or name the AMI in ami_id",
            )


RULE = Rule(
    code="PD418",
    severity=Severity.ERROR,
    title="A driver is stated of an AMI of one's own",
    rationale="It would install nothing, and hide which driver the nodes run.",
    source="this library",
    check=check,
)
