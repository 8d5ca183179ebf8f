"""The network of a new cluster."""

from __future__ import annotations

from ipaddress import IPv4Network
from itertools import combinations
from typing import Any

import pytest

from constructs_pd.planning.cluster_plan import NetworkPlan
from constructs_pd.planning.network_plan import RESERVED_ADDRESSES, network_plan, private_addresses
from constructs_pd.planning.spec_cluster import NewCluster

# Elastic Load Balancing, Subnets for your load balancer: at least a /27.
BALANCER_PREFIX = 27
SIZES = [16, 17, 18, 19, 20]


def network(others: list[str], **fields: Any) -> NetworkPlan:
    return network_plan(NewCluster(other_zones=tuple(others), **fields), "us-west-2a")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("others", [["us-west-2b"], ["us-west-2b", "us-west-2c"]])
def test_subnets_lie_in_the_network_and_do_not_overlap(size: int, others: list[str]) -> None:
    planned = network(others, vpc_cidr=f"10.32.0.0/{size}")
    subnets = [IPv4Network(cidr) for zone in planned.zones for cidr in (zone.public_cidr, zone.private_cidr)]
    assert len(subnets) == 2 * len(planned.zones) == 2 * (1 + len(others))
    assert all(subnet.subnet_of(IPv4Network(planned.cidr)) for subnet in subnets)
    assert not any(first.overlaps(second) for first, second in combinations(subnets, 2))


@pytest.mark.parametrize("size", SIZES)
def test_a_balancer_fits_each_public_subnet(size: int) -> None:
    for zone in network(["us-west-2b", "us-west-2c"], vpc_cidr=f"10.32.0.0/{size}").zones:
        assert IPv4Network(zone.public_cidr).prefixlen <= BALANCER_PREFIX


@pytest.mark.parametrize("size", SIZES)
def test_addresses_are_counted_as_the_subnet_has_them(size: int) -> None:
    cluster = NewCluster(other_zones=("us-west-2b",), vpc_cidr=f"10.32.0.0/{size}")
    (private, *_) = [IPv4Network(zone.private_cidr) for zone in network_plan(cluster, "us-west-2a").zones]
    assert private_addresses(cluster) == private.num_addresses - RESERVED_ADDRESSES


def test_the_zone_of_the_gpu_nodes_comes_first() -> None:
    assert [zone.zone for zone in network(["us-west-2c", "us-west-2b"]).zones] == [
        "us-west-2a",
        "us-west-2c",
        "us-west-2b",
    ]


@pytest.mark.parametrize(("gateways", "zones"), [("one", [True, False, False]), ("per_zone", [True, True, True])])
def test_a_nat_gateway_stands_in_the_first_zone_or_in_each(gateways: str, zones: list[bool]) -> None:
    planned = network(["us-west-2b", "us-west-2c"], nat_gateways=gateways)
    assert [zone.has_nat_gateway for zone in planned.zones] == zones


def test_zones_are_names_or_ids() -> None:
    assert not network(["us-west-2b"]).zones_are_ids
    assert network_plan(NewCluster(other_zones=("usw2-az2",)), "usw2-az1").zones_are_ids


def test_interface_endpoints_are_those_that_are_stated() -> None:
    assert network(["us-west-2b"]).interface_endpoints == ()
    assert network(["us-west-2b"], interface_endpoints=("ecr.api", "sts")).interface_endpoints == ("ecr.api", "sts")
