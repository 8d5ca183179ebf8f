"""PD122: a reservation lies in the zone of the GPU nodes."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.zones import is_zone_id


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each reservation in another zone, or in one that is written the other way."""
    zone = facts.spec.availability_zone
    for phase in facts.phases:
        reservation = phase.spec.reservation
        if reservation is None or reservation.availability_zone == zone:
            continue
        reserved = reservation.availability_zone
        subject = f"{phase.name}.reservation.availability_zone"
        if is_zone_id(reserved) == is_zone_id(zone):
            remedy = "name a reservation in that zone, or move the deployment to the reservation's"
            yield Violation(subject, f"{reservation.id} reserves in {reserved!r}, the nodes stand in {zone!r}", remedy)
        else:
            yield Violation(
                subject,
                f"{reserved!r} and availability_zone {zone!r} cannot be compared: one is a name, the other an id",
                "write both as names or both as ids; describe-capacity-reservations shows both",
            )


RULE = Rule(
    code="PD122",
    severity=Severity.ERROR,
    title="A reservation lies in the zone of the GPU nodes",
    rationale="No instance is started in a reservation of another zone: the node group waits until it fails.",
    source="EKS user guide, Create a managed node group with Capacity Blocks for ML: subnets",
    check=check,
)
