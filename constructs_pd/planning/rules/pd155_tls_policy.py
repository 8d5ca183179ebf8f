"""PD155: the HTTPS listener takes no TLS below 1.2."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_balancer import DEFAULT_TLS_POLICY

LEAST_TLS: Final = "1.2"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a policy that nobody knows, and for one that accepts an old version."""
    policy, known = facts.spec.endpoint.balancer.tls_policy, facts.catalog.tls_policies
    row = known.get(policy)
    if row is None:
        sound = sorted(row.policy for row in known.values() if row.least_tls >= LEAST_TLS)
        yield Violation(
            "endpoint.balancer.tls_policy",
            f"{policy!r} is none of the {len(known)} security policies whose TLS versions are known",
            f"choose one of {', '.join(sound)}",
        )
    elif row.least_tls < LEAST_TLS:
        yield Violation(
            "endpoint.balancer.tls_policy",
            f"{policy} accepts TLS {row.least_tls}, the least is {LEAST_TLS}",
            f"leave it out, for {DEFAULT_TLS_POLICY}",
        )


RULE = Rule(
    code="PD155",
    severity=Severity.ERROR,
    title="The HTTPS listener takes no TLS below 1.2",
    rationale="TLS 1.0 and 1.1 are deprecated: an attacker who can talk client and balancer down to them reads along. "
    "ELB's default where nothing is said, ELBSecurityPolicy-2016-08, accepts both.",
    source="RFC 8996; Application Load Balancers user guide, security policies",
    check=check,
)
