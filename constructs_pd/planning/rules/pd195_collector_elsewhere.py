"""PD195: the collector is another than the pod itself."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.observability import is_loopback
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a loopback address: a pod finds nobody but itself there."""
    tracing = facts.spec.tracing
    if tracing is not None and is_loopback(tracing.otlp_endpoint):
        yield Violation(
            "tracing.otlp_endpoint",
            f"{tracing.otlp_endpoint} is the pod itself, in which 0 collectors run",
            "name the Service of a collector; this address is good for a rehearsal",
        )


RULE = Rule(
    code="PD195",
    severity=Severity.WARNING,
    title="The collector is another than the pod itself",
    rationale="Every span is lost, unless you add a container with a collector to each pod.",
    source="Kubernetes documentation, Pods: containers of a pod share the network",
    check=check,
)
