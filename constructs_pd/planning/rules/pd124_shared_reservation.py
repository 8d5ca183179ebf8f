"""PD124: a reservation that both phases use is the same one in both."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each way in which the phases speak differently of one reservation."""
    prefill, decode = facts.spec.prefill, facts.spec.decode
    if prefill.reservation is None or decode.reservation is None or prefill.reservation.id != decode.reservation.id:
        return
    pairs = (
        ("instance_type", prefill.instance_type, decode.instance_type),
        ("capacity", prefill.capacity, decode.capacity),
        ("reservation.instance_count", prefill.reservation.instance_count, decode.reservation.instance_count),
        ("reservation.placement_group", prefill.reservation.placement_group, decode.reservation.placement_group),
    )
    for field, of_prefill, of_decode in pairs:
        if of_prefill != of_decode:
            yield Violation(
                f"decode.{field}",
                f"{decode.reservation.id} has {of_decode!r} here and {of_prefill!r} in prefill.{field}",
                "say the same in both phases, or name another reservation in one of them",
            )


RULE = Rule(
    code="PD124",
    severity=Severity.ERROR,
    title="A reservation that both phases use is the same one in both",
    rationale="A reservation is of one instance type, of one kind and in one placement group: one phase never starts.",
    source="EC2 User Guide, Capacity Reservations",
    check=check,
)
