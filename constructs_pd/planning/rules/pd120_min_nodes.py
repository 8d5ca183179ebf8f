"""PD120: a node group is never smaller than its phase."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose min_nodes is above its replicas."""
    for phase in facts.phases:
        fewest, desired = phase.spec.min_nodes, phase.spec.replicas
        if fewest is not None and fewest > desired:
            yield Violation(
                f"{phase.name}.min_nodes",
                f"{fewest} nodes at least, {desired} replicas need {desired}",
                f"lower it to {desired} or less, or raise replicas to {fewest}",
            )


RULE = Rule(
    code="PD120",
    severity=Severity.ERROR,
    title="A node group needs no more nodes than its phase has replicas",
    rationale="EKS refuses a node group whose minimum is above its desired size, which is the number of replicas.",
    source="EKS API, NodegroupScalingConfig",
    check=check,
    arithmetic="min_nodes <= replicas, for each phase",
)
