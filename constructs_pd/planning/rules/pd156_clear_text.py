"""PD156: keys do not cross the network in clear text."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.balancer import has_keys
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for keys that are sent to an internal load balancer without a certificate."""
    endpoint = facts.spec.endpoint
    if endpoint.exposure == "internal_alb" and has_keys(endpoint) and endpoint.balancer.certificate_arn is None:
        yield Violation(
            "endpoint.balancer.certificate_arn",
            "clients send their keys to a load balancer with 0 certificates, in clear text",
            f"state the ARN of an ACM certificate in {facts.spec.region}, or acknowledge it in a trusted network",
        )


RULE = Rule(
    code="PD156",
    severity=Severity.WARNING,
    title="Keys do not cross the network in clear text",
    rationale="Whoever sees the traffic of the VPC has the keys.",
    source="RFC 6750, section 5.3: bearer tokens are sent over TLS",
    check=check,
)
