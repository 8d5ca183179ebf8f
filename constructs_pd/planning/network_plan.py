"""The network of a new cluster: which addresses each zone has."""

from __future__ import annotations

from ipaddress import IPv4Network
from typing import Final

from constructs_pd.planning.cluster_plan import NetworkPlan, ZonePlan
from constructs_pd.planning.spec_cluster import NewCluster
from constructs_pd.planning.zones import is_zone_id

# A private subnet is a quarter of the network, a public one a sixteenth of the quarter that is left.
PRIVATE_BITS: Final = 2
PUBLIC_BITS: Final = 6
# Amazon VPC User Guide, Subnet sizing: the first four addresses and the last one of a subnet are AWS's.
RESERVED_ADDRESSES: Final = 5


def network_plan(cluster: NewCluster, gpu_zone: str) -> NetworkPlan:
    """Return the network; its range must be one that PD127 accepts."""
    network = IPv4Network(cluster.vpc_cidr)
    private = list(network.subnets(prefixlen_diff=PRIVATE_BITS))
    public = private[-1].subnets(prefixlen_diff=PUBLIC_BITS - PRIVATE_BITS)
    zones = (gpu_zone, *cluster.other_zones)
    return NetworkPlan(
        cidr=cluster.vpc_cidr,
        zones=tuple(
            ZonePlan(
                zone=zone,
                public_cidr=str(public_subnet),
                private_cidr=str(private_subnet),
                has_nat_gateway=zone == gpu_zone or cluster.nat_gateways == "per_zone",
            )
            for zone, private_subnet, public_subnet in zip(zones, private, public, strict=False)
        ),
        zones_are_ids=is_zone_id(gpu_zone),
        interface_endpoints=cluster.interface_endpoints,
    )


def private_addresses(cluster: NewCluster) -> int:
    """Return how many addresses the private subnet of a zone has for nodes and pods."""
    return IPv4Network(cluster.vpc_cidr).num_addresses // 2**PRIVATE_BITS - RESERVED_ADDRESSES
