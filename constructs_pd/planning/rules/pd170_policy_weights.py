"""PD170: network policies let weights be fetched."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for pods that have the weights nowhere and may fetch them nowhere."""
    stated = facts.spec.network_policy
    if stated is not None and not stated.egress_cidrs and facts.spec.model_cache is None:
        yield Violation(
            "network_policy.egress_cidrs",
            f"0 ranges and no model_cache, and the weights of {facts.spec.model.source} are fetched by HTTPS",
            "name ranges from which they come, 0.0.0.0/0 for any; or state model_cache with the weights in it",
        )


RULE = Rule(
    code="PD170",
    severity=Severity.ERROR,
    title="Network policies let weights be fetched",
    rationale="Engines ask for their weights until their time is over, and never start.",
    source="Kubernetes documentation, Network Policies",
    check=check,
)
