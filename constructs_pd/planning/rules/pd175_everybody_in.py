"""PD175: network policies let in whom they name, not everybody."""

from collections.abc import Iterator
from ipaddress import IPv4Network, collapse_addresses

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.pd127_vpc_cidr import network_of
from constructs_pd.planning.rules.rule import Rule, Violation

_EVERYWHERE = IPv4Network("0.0.0.0/0")


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the balancer's addresses are all there are."""
    stated = facts.spec.network_policy
    if stated is None:
        return
    ranges = [network for network in map(network_of, stated.balancer_cidrs) if network is not None]
    if _EVERYWHERE not in collapse_addresses(ranges):
        return
    yield Violation(
        "network_policy.balancer_cidrs",
        f"{', '.join(stated.balancer_cidrs)} are {_EVERYWHERE.num_addresses:,} addresses, every pod's among them: they "
        "let everybody reach the endpoint",
        "name the ranges of the balancer's subnets (aws ec2 describe-subnets: CidrBlock)",
    )


RULE = Rule(
    code="PD175",
    severity=Severity.WARNING,
    title="Network policies do not let everybody reach the endpoint",
    rationale="A policy is believed to guard the endpoint, and any pod of the cluster reaches it.",
    source="Kubernetes API, IPBlock: pods have addresses too",
    check=check,
)
