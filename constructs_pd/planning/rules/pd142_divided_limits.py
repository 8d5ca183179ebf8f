"""PD142: each replica of the gateway has a part of a key's limits."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.gateway import part_of
from constructs_pd.planning.rules.rule import Rule, Violation

LIMITS = ("requests_per_minute", "concurrent_requests")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a limit that is smaller than the number of replicas."""
    gateway = facts.spec.endpoint.gateway
    if gateway is None:
        return
    for name in LIMITS:
        limit = getattr(gateway, name)
        if part_of(limit, gateway.replicas) == 0:
            yield Violation(
                f"endpoint.gateway.{name}",
                f"{limit} divided over {gateway.replicas} replicas leaves each of them less than 1",
                f"raise it to {gateway.replicas} or more",
            )


def worked(facts: Facts) -> Iterator[str]:
    """Yield what a replica lets through."""
    gateway = facts.spec.endpoint.gateway
    if gateway is None:
        yield "there is no gateway"
        return
    for name in LIMITS:
        limit = getattr(gateway, name)
        part = part_of(limit, gateway.replicas)
        yield (f"{name}: {limit:,} / {gateway.replicas} replicas = {part:,} each, {part * gateway.replicas:,} together")


RULE = Rule(
    code="PD142",
    severity=Severity.ERROR,
    title="Each replica of the gateway has a part of a key's limits",
    rationale="Replicas count for themselves: one with a part of 0 refuses everything, and one with 1 makes the sum "
    "exceed the limit.",
    source="HAProxy 2.8 configuration manual, stick-table: each process has its own",
    check=check,
    arithmetic="limit of a replica = stated limit / replicas, rounded down, at least 1",
    worked=worked,
)
