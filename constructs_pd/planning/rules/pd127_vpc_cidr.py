"""PD127: a new cluster's network has addresses that can be divided."""

from collections.abc import Iterator
from ipaddress import IPv4Network
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Amazon VPC User Guide, VPC CIDR blocks: the largest is a /16. The smallest here leaves a public subnet the /27 that a
# load balancer needs (Elastic Load Balancing, Subnets for your load balancer).
WIDEST: Final = 16
NARROWEST: Final = 20
# RFC 1918.
PRIVATE: Final = tuple(IPv4Network(text) for text in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16"))
# IANA IPv4 Special-Purpose Address Registry: this host, loopback, link-local; and multicast and what is reserved.
SPECIAL: Final = tuple(IPv4Network(text) for text in ("0.0.0.0/8", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"))


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a range of addresses that is none, or too large or too small."""
    cluster = facts.spec.eks_cluster
    if cluster is None:
        return
    network = network_of(cluster.vpc_cidr)
    remedy = f"name a range from /{WIDEST} to /{NARROWEST} on its boundary, such as 10.0.0.0/16"
    if network is None:
        yield Violation("eks_cluster.vpc_cidr", f"{cluster.vpc_cidr} is no range of IPv4 addresses", remedy)
    elif not WIDEST <= network.prefixlen <= NARROWEST:
        yield Violation(
            "eks_cluster.vpc_cidr", f"a /{network.prefixlen}, a network here is a /{WIDEST} to /{NARROWEST}", remedy
        )
    elif any(network.overlaps(special) for special in SPECIAL):
        yield Violation("eks_cluster.vpc_cidr", f"{cluster.vpc_cidr} lies in a range with a meaning of its own", remedy)
    for index, text in enumerate(cluster.public_access_cidrs):
        subject, reaching = f"eks_cluster.public_access_cidrs.{index}", network_of(text)
        if reaching is None:
            yield Violation(
                subject,
                f"{text} is no range of IPv4 addresses",
                "name one address as ADDRESS/32, or a range on its boundary",
            )
        elif reaching.is_multicast or not reaching.is_global:
            kind = "private" if any(reaching.subnet_of(private) for private in PRIVATE) else "special"
            yield Violation(
                subject,
                f"{text} are {reaching.num_addresses:,} {kind} addresses, none of which comes over the internet",
                "name your own addresses on the internet, or leave it out: from the network, and from what is "
                "connected to it, the API is reached anyway",
            )


def network_of(text: str) -> IPv4Network | None:
    """Return the range of addresses, or none where the text is none, or not as AWS writes it."""
    try:
        network = IPv4Network(text)
    except ValueError:
        return None
    return network if str(network) == text else None


RULE = Rule(
    code="PD127",
    severity=Severity.ERROR,
    title="Addresses of a new cluster are ranges, and its network can be divided",
    rationale="EC2 refuses the network or one of its subnets, or EKS the cluster.",
    source="Amazon VPC User Guide, VPC CIDR blocks; EKS API, VpcConfigRequest; IANA IPv4 Special-Purpose Address "
    "Registry, as Python's ipaddress has it",
    check=check,
)
