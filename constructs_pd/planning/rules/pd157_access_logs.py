"""PD157: an endpoint on the internet logs its requests."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an internet-facing load balancer without access logs."""
    endpoint = facts.spec.endpoint
    if endpoint.exposure == "internet_alb" and endpoint.balancer.access_logs is None:
        yield Violation(
            "endpoint.balancer.access_logs",
            "a load balancer on the internet writes 0 access logs",
            "name a bucket in access_logs, or acknowledge it where something else records who calls",
        )


RULE = Rule(
    code="PD157",
    severity=Severity.WARNING,
    title="An endpoint on the internet logs its requests",
    rationale="After an incident nobody could say who called; access logs cannot be had afterwards.",
    source="AWS Security Hub user guide, ELB.5; Application Load Balancers user guide, access logs",
    check=check,
)
