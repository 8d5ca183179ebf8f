"""PD182: network policies let Prometheus reach the pods."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for monitoring that network policies shut out."""
    policy = facts.spec.network_policy
    if facts.spec.monitoring is not None and policy is not None and not policy.monitoring_namespaces:
        yield Violation(
            "network_policy.monitoring_namespaces",
            "0 namespaces may read metrics, and monitoring wants to",
            "name the namespace of Prometheus, such as [monitoring]",
        )


RULE = Rule(
    code="PD182",
    severity=Severity.ERROR,
    title="Network policies let Prometheus reach the pods",
    rationale="Every look at a pod would end without an answer: no metrics, and alerts about pods that are well.",
    source="Kubernetes documentation, Network Policies",
    check=check,
)
