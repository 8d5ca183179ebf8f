"""PD123: a reservation holds an instance for every node that runs in it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_nodes import Reservation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each reservation that is smaller than the node groups which use it."""
    users: dict[str, list[tuple[PhaseFacts, Reservation]]] = {}
    for phase in facts.phases:
        if phase.spec.reservation is not None:
            users.setdefault(phase.spec.reservation.id, []).append((phase, phase.spec.reservation))
    for users_of_one in users.values():
        last, reservation = users_of_one[-1]
        nodes = sum(phase.spec.most_nodes for phase, _ in users_of_one)
        if nodes > reservation.instance_count:
            who = " and ".join(phase.name for phase, _ in users_of_one)
            yield Violation(
                f"{last.name}.reservation.instance_count",
                f"{reservation.id} holds {reservation.instance_count} instances, {who} may have {nodes} nodes",
                f"lower replicas or max_nodes to {reservation.instance_count} in all, or reserve {nodes}",
            )


RULE = Rule(
    code="PD123",
    severity=Severity.ERROR,
    title="A reservation holds an instance for every node that runs in it",
    rationale="Nodes beyond the reservation are never started; their pods stay Pending, and the service never starts.",
    source="EC2 User Guide, Capacity Reservations: a targeted launch fails when the reservation is full",
    check=check,
    arithmetic="instance_count >= most nodes of the phases that name the reservation, together",
)
