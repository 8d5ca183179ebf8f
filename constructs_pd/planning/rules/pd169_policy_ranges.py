"""PD169: addresses in network policies are ranges."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.pd127_vpc_cidr import network_of
from constructs_pd.planning.rules.rule import Rule, Violation

FIELDS: Final = ("balancer_cidrs", "collector_cidrs", "kubernetes_api_cidrs", "egress_cidrs", "redis_cidrs")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each text that is no range of addresses."""
    stated = facts.spec.network_policy
    if stated is None:
        return
    for field in FIELDS:
        for index, text in enumerate(getattr(stated, field)):
            if network_of(text) is None:
                yield Violation(
                    f"network_policy.{field}.{index}",
                    f"{text} is no range of IPv4 addresses",
                    "name one address as ADDRESS/32, or a range on its boundary",
                )


RULE = Rule(
    code="PD169",
    severity=Severity.ERROR,
    title="Addresses in network policies are ranges",
    rationale="The API server refuses the policy, and what it would allow stays denied.",
    source="Kubernetes API, IPBlock",
    check=check,
)
