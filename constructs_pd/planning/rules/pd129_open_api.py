"""PD129: the Kubernetes API is not open to the whole internet."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.pd127_vpc_cidr import network_of
from constructs_pd.planning.rules.rule import Rule, Violation

# A range wider than any that belongs to one organisation's offices.
WIDEST_NAMED: Final = 8


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a range of public addresses so wide that it names nobody."""
    cluster = facts.spec.eks_cluster
    for index, text in enumerate(cluster.public_access_cidrs if cluster else ()):
        network = network_of(text)
        if network is not None and network.prefixlen < WIDEST_NAMED:
            yield Violation(
                f"eks_cluster.public_access_cidrs.{index}",
                f"{network.num_addresses:,} addresses reach the Kubernetes API's sign-in",
                "name your own addresses, or leave it out and work from inside the network",
            )


RULE = Rule(
    code="PD129",
    severity=Severity.WARNING,
    title="The Kubernetes API is not open to the whole internet",
    rationale="Only IAM stands between anybody and the cluster.",
    source="EKS best practices guide, Security: restrict access to the API server's endpoint",
    check=check,
)
