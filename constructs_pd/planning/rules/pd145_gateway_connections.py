"""PD145: a replica of the gateway can hold the requests that one key may have at once."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.gateway import MAX_CONNECTIONS, part_of
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a part of the limit that is above the connections of a replica."""
    gateway = facts.spec.endpoint.gateway
    if gateway is None:
        return
    part = part_of(gateway.concurrent_requests, gateway.replicas)
    if part > MAX_CONNECTIONS:
        yield Violation(
            "endpoint.gateway.concurrent_requests",
            f"{part:,} requests of one key for each of {gateway.replicas} replicas, which hold {MAX_CONNECTIONS:,} "
            "connections each",
            f"lower it to {MAX_CONNECTIONS * gateway.replicas:,}, or have more replicas",
        )


RULE = Rule(
    code="PD145",
    severity=Severity.ERROR,
    title="A replica of the gateway can hold the requests that one key may have at once",
    rationale="One key could then take every connection, and the others would wait for it.",
    source="HAProxy 2.8 configuration manual, maxconn",
    check=check,
)
