"""PD113: a node group may grow to the nodes that its phase needs."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose max_nodes is below its replicas."""
    for phase in facts.phases:
        most, needed = phase.spec.max_nodes, phase.spec.replicas
        if most is not None and most < needed:
            yield Violation(
                f"{phase.name}.max_nodes",
                f"{most} nodes at most, {needed} replicas need {needed}",
                f"raise it to {needed}, or lower replicas to {most}",
            )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the nodes of each phase."""
    for phase in facts.phases:
        most = "not stated, as many as replicas" if phase.spec.max_nodes is None else f"{phase.spec.max_nodes}"
        yield f"{phase.name}: replicas {phase.spec.replicas}, max_nodes {most}"


RULE = Rule(
    code="PD113",
    severity=Severity.ERROR,
    title="A node group may grow to the nodes that its phase needs",
    rationale="Each replica takes a whole node: the pods beyond max_nodes stay Pending, and the service never starts.",
    source="this library: one pod per node",
    check=check,
    arithmetic="max_nodes >= replicas, for each phase",
    worked=worked,
)
