"""PD128: a new cluster's network has addresses for all nodes."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.network_plan import private_addresses
from constructs_pd.planning.rules.pd127_vpc_cidr import NARROWEST, network_of
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the private subnet of the zone has fewer addresses than its nodes may take."""
    cluster = facts.spec.eks_cluster
    network = network_of(cluster.vpc_cidr) if cluster else None
    if cluster is None or network is None or network.prefixlen > NARROWEST:
        return
    nodes = sum(phase.spec.most_nodes for phase in facts.phases) + cluster.system_nodes.count
    needed, there = nodes * defaults.ADDRESSES_PER_NODE, private_addresses(cluster)
    if needed > there:
        yield Violation(
            "eks_cluster.vpc_cidr",
            f"{nodes} nodes take up to {needed:,} addresses, the subnet in {facts.spec.availability_zone} "
            f"has {there:,}",
            "widen the range up to a /16, or lower max_nodes",
        )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the addresses of the nodes and of their subnet."""
    cluster = facts.spec.eks_cluster
    network = network_of(cluster.vpc_cidr) if cluster else None
    if cluster is None:
        yield "no network is made: the cluster exists"
    elif network is None or network.prefixlen > NARROWEST:
        yield f"{cluster.vpc_cidr} cannot be divided, see PD127"
    else:
        prefill, decode = (phase.spec.most_nodes for phase in facts.phases)
        nodes = prefill + decode + cluster.system_nodes.count
        yield f"{nodes} nodes = {prefill} of prefill + {decode} of decode + {cluster.system_nodes.count} of the system"
        yield (
            f"{nodes} x {defaults.ADDRESSES_PER_NODE} = {nodes * defaults.ADDRESSES_PER_NODE:,} addresses at most, "
            f"{private_addresses(cluster):,} in the private subnet of {facts.spec.availability_zone}"
        )


RULE = Rule(
    code="PD128",
    severity=Severity.ERROR,
    title="A new cluster's network has addresses for all nodes",
    rationale="Nodes start without an address for their pods, which stay in ContainerCreating.",
    source=(
        "aws/amazon-vpc-cni-k8s docs/eni-and-ip-target.md (a whole interface is held in reserve); EC2 "
        "DescribeInstanceTypes, Ipv4AddressesPerInterface (64 at most for the types of the catalogue)"
    ),
    check=check,
    arithmetic=(
        "nodes = most nodes of both phases + system nodes; nodes x 128 addresses <= addresses of the private subnet "
        "in the zone"
    ),
    worked=worked,
)
