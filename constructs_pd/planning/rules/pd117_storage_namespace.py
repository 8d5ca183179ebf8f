"""PD117: two clusters do not share their state in Redis."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a fixed storage namespace beside an upgrade by a second cluster."""
    redis = facts.spec.gcs_fault_tolerance
    if redis is not None and redis.storage_namespace is not None and facts.spec.upgrade.strategy == "new_cluster":
        yield Violation(
            "gcs_fault_tolerance.storage_namespace",
            f"2 clusters of an upgrade would keep their state in 1 place, {redis.storage_namespace!r}",
            "leave it out: KubeRay then takes the cluster's UID; or set upgrade.strategy to none",
        )


RULE = Rule(
    code="PD117",
    severity=Severity.ERROR,
    title="Two clusters do not share their state in Redis",
    rationale="The second cluster starts from the first's state, and deleting the first erases it for both.",
    source="KubeRay 1.7.0 pod.go, configureGCSFaultTolerance; raycluster_controller.go, the Redis cleanup job",
    check=check,
)
