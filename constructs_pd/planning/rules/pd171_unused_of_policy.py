"""PD171: what is stated of network policies has an effect."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each field about something that the deployment has not."""
    stated, spec = facts.spec.network_policy, facts.spec
    if stated is None:
        return
    without = {
        "balancer_cidrs": "exposure cluster has no balancer" if spec.endpoint.exposure == "cluster" else None,
        "collector_cidrs": None if spec.tracing else "there is no tracing",
        "collector_namespaces": None if spec.tracing else "there is no tracing",
        "kubernetes_api_cidrs": None if spec.endpoint.conformance_job else "there is no endpoint.conformance_job",
        "redis_cidrs": None if spec.gcs_fault_tolerance else "there is no gcs_fault_tolerance",
        "redis_namespaces": None if spec.gcs_fault_tolerance else "there is no gcs_fault_tolerance",
    }
    for field, reason in without.items():
        count = len(getattr(stated, field))
        if reason is not None and count:
            yield Violation(f"network_policy.{field}", f"{count} stated, and {reason}", "remove it")


RULE = Rule(
    code="PD171",
    severity=Severity.ERROR,
    title="What is stated of network policies has an effect",
    rationale="Whoever reads it takes something for allowed that no policy mentions.",
    source="this library",
    check=check,
)
