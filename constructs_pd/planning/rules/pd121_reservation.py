"""PD121: reserved capacity names its reservation, and only reserved capacity does."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase with reserved capacity and no reservation, or the other way round."""
    for phase in facts.phases:
        capacity, reservation = phase.spec.capacity, phase.spec.reservation
        if capacity != "on_demand" and reservation is None:
            yield Violation(
                f"{phase.name}.capacity",
                f"{capacity} needs 1 reservation, 0 are named",
                f"add {phase.name}.reservation: {{id: cr-..., availability_zone: ..., instance_count: ...}}",
            )
        elif capacity == "on_demand" and reservation is not None:
            yield Violation(
                f"{phase.name}.reservation",
                f"on_demand needs 0 reservations, {reservation.id} is named",
                f"set {phase.name}.capacity to reservation or capacity_block, or remove the reservation",
            )


RULE = Rule(
    code="PD121",
    severity=Severity.ERROR,
    title="Reserved capacity names its reservation, and only reserved capacity does",
    rationale=(
        "EKS refuses a node group of a Capacity Block without its id; on-demand nodes beside a reservation are "
        "started, and paid for, a second time."
    ),
    source="EKS user guide, Create a managed node group with Capacity Blocks for ML; eksctl-io/eksctl PR#8207",
    check=check,
)
