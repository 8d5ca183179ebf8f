"""PD114: an upgrade through a second cluster has nodes for it."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

CLUSTERS_DURING_UPGRADE = 2


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase without room for a second set of nodes."""
    if facts.spec.upgrade.strategy != "new_cluster":
        return
    for phase in facts.phases:
        most = phase.spec.most_nodes
        needed = CLUSTERS_DURING_UPGRADE * phase.spec.replicas
        if most < needed:
            yield Violation(
                f"{phase.name}.max_nodes",
                f"{most} nodes at most, an upgrade by new_cluster needs {needed}",
                f"raise it to {needed}, or set upgrade.strategy to none",
            )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the nodes that an upgrade of each phase takes."""
    strategy, clusters = facts.spec.upgrade.strategy, CLUSTERS_DURING_UPGRADE
    for phase in facts.phases:
        replicas = phase.spec.replicas
        if strategy != "new_cluster":
            yield f"{phase.name}: no second cluster with upgrade.strategy {strategy}, {replicas} nodes are enough"
        else:
            yield (
                f"{phase.name}: {clusters} x {replicas} replicas = {clusters * replicas} nodes, "
                f"at most {phase.spec.most_nodes}"
            )


RULE = Rule(
    code="PD114",
    severity=Severity.ERROR,
    title="An upgrade through a second cluster has nodes for it",
    rationale="A change of the cluster starts a second one; without GPUs it stays Pending, and the upgrade never ends.",
    source="ray-project/kuberay#1476, PR#1564, #4239",
    check=check,
    arithmetic="max_nodes >= 2 x replicas, for each phase, where upgrade.strategy is new_cluster",
    worked=worked,
)
