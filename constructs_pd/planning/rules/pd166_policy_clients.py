"""PD166: network policies let somebody reach the endpoint."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an endpoint inside the cluster that no pod may reach."""
    stated = facts.spec.network_policy
    if stated is not None and facts.spec.endpoint.exposure == "cluster" and not stated.client_namespaces:
        yield Violation(
            "network_policy.client_namespaces",
            "0 namespaces, and exposure cluster has no balancer: 0 clients reach the endpoint",
            f"name the namespaces of its clients; {facts.spec.namespace}, for those that run beside it",
        )


RULE = Rule(
    code="PD166",
    severity=Severity.ERROR,
    title="Network policies let somebody reach the endpoint",
    rationale="Clients would wait until their time is over: what a policy denies gets no answer.",
    source="Kubernetes documentation, Network Policies",
    check=check,
)
