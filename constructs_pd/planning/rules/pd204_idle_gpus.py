"""PD204: no GPU of a node is left idle."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose engine uses only some of its node's GPUs."""
    for phase in facts.phases:
        used = phase.tensor_parallel
        if phase.instance is None or used is None or used >= phase.instance.gpu.count:
            continue
        count = phase.instance.gpu.count
        yield Violation(
            f"{phase.name}.tensor_parallel",
            f"{used} of {count} GPUs of {phase.instance.instance_type} are used, {count - used} stay idle",
            f"raise tensor_parallel to {count}, or choose a smaller instance type",
        )


RULE = Rule(
    code="PD204",
    severity=Severity.WARNING,
    title="Every GPU of a node is used",
    rationale="A worker pod takes its whole node and runs one engine: other GPUs are paid for and idle.",
    source="this library: one pod per node, so that pods never share GPUs or EFA interfaces",
    check=check,
    arithmetic="tensor_parallel = GPUs of the instance type, for each phase",
)
