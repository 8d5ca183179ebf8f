"""PD191: network policies let spans reach their collector."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.observability import port_of
from constructs_pd.planning.rules.rule import Rule, Violation

_HTTPS: Final = 443


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for policies that name no collector; weights' own way out is one too."""
    stated, tracing = facts.spec.network_policy, facts.spec.tracing
    if stated is None or tracing is None:
        return
    port = port_of(tracing.otlp_endpoint)
    goes_with_weights = port == _HTTPS and stated.egress_cidrs
    if not (goes_with_weights or stated.collector_namespaces or stated.collector_cidrs):
        yield Violation(
            "network_policy",
            f"0 ranges and 0 namespaces of a collector, and {tracing.otlp_endpoint} is asked at port {port}",
            "name its namespace in collector_namespaces, or its addresses in collector_cidrs",
        )


RULE = Rule(
    code="PD191",
    severity=Severity.ERROR,
    title="Network policies let spans reach their collector",
    rationale="Every span is lost, and the pods log once a batch that the collector does not answer.",
    source="Kubernetes documentation, Network Policies",
    check=check,
)
