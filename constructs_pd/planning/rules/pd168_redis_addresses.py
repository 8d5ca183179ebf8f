"""PD168: network policies let the head reach its Redis."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.network_policies import is_address
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a Redis that is known by its name alone."""
    stated, redis = facts.spec.network_policy, facts.spec.gcs_fault_tolerance
    if stated is None or redis is None or stated.redis_cidrs or stated.redis_namespaces:
        return
    host = redis.redis_address.rpartition("//")[2].rpartition(":")[0]
    if not is_address(host):
        yield Violation(
            "network_policy.redis_cidrs",
            f"0 ranges and 0 redis_namespaces, and a policy cannot name {host}",
            "name the ranges of its subnets in redis_cidrs, or its namespace in redis_namespaces",
        )


RULE = Rule(
    code="PD168",
    severity=Severity.ERROR,
    title="Network policies let the head reach its Redis",
    rationale="Ray's control plane waits for Redis and never starts. A policy knows addresses and labels, no names.",
    source="Kubernetes documentation, Network Policies",
    check=check,
)
