"""New clusters that plan: every field of `eks_cluster`, over the values that the planner permits."""

from __future__ import annotations

from dataclasses import dataclass
from ipaddress import IPv4Network
from typing import Any, get_args

from hypothesis import strategies as st

from constructs_pd.planning import defaults
from constructs_pd.planning.network_plan import private_addresses
from constructs_pd.planning.rules.pd127_vpc_cidr import NARROWEST, SPECIAL, WIDEST
from constructs_pd.planning.sizes import MIB_PER_GIB
from constructs_pd.planning.spec_cluster import Addon, InterfaceEndpoint, LogRetentionDays, NewCluster
from constructs_pd.planning.zones import is_zone_id, zone_id_prefix
from support import strategies_text as text
from support.strategies_rows import CATALOG

_MOST_SYSTEM_NODES = 20
_ROOM_GIB = {
    name: (row.allocatable_memory_mib - defaults.SYSTEM_RESERVE_MEMORY_MIB) // MIB_PER_GIB
    for name, row in CATALOG.system_instances.items()
}
# The most memory of a head that fits the largest system nodes.
MOST_HEAD_GIB = max(_ROOM_GIB.values())


def _most_nodes(cidr: str) -> int:
    return private_addresses(NewCluster(other_zones=("",), vpc_cidr=cidr)) // defaults.ADDRESSES_PER_NODE


# The most nodes of a phase that the widest network has addresses for, beside as many of the other phase.
MOST_NODES = (_most_nodes(f"10.0.0.0/{WIDEST}") - _MOST_SYSTEM_NODES) // 2

_cidrs = st.tuples(st.integers(0, 2**32 - 1), st.integers(0, 32)).map(lambda parts: _cidr(*parts))
_endpoints = st.lists(st.sampled_from(get_args(InterfaceEndpoint)), max_size=9, unique=True)


@dataclass(frozen=True)
class Surroundings:
    """What a cluster's fields depend on."""

    region: str
    zone: str
    gpu_nodes: int
    head_memory_gib: int
    makes_file_system: bool
    kubernetes: str


def takes(zone: str) -> bool:
    """Return whether EKS takes a cluster's subnets in the zone, as far as is known."""
    return zone not in CATALOG.unsupported_zones


@st.composite
def new_clusters(draw: st.DrawFn, around: Surroundings) -> dict[str, Any]:
    """Return clusters for a deployment of at most twice `MOST_NODES` nodes."""
    system_nodes = draw(st.integers(2, _MOST_SYSTEM_NODES))
    return draw(
        st.fixed_dictionaries(
            {
                "other_zones": st.lists(st.sampled_from(_other_zones(around)), min_size=1, max_size=2, unique=True),
                "vpc_cidr": _networks(around.gpu_nodes + system_nodes),
                "log_retention_days": st.sampled_from(get_args(LogRetentionDays)),
                "system_nodes": st.fixed_dictionaries(
                    {"count": st.just(system_nodes), "instance_type": st.sampled_from(_system_instances(around))}
                ),
            },
            optional={
                "name": text.cluster_names,
                "nat_gateways": st.sampled_from(["one", "per_zone"]),
                "interface_endpoints": _endpoints,
                "public_access_cidrs": st.lists(_cidrs.filter(_is_public), max_size=3, unique=True),
                "addon_versions": _addon_versions(around),
            },
        )
    )


def _addon_versions(around: Surroundings) -> st.SearchStrategy[dict[str, str]]:
    # Few make a file system, so those that do often state its driver.
    driver = ["aws-efs-csi-driver"]
    names = [name for name in get_args(Addon) if name not in driver] + driver * (20 if around.makes_file_system else 0)
    parts = st.tuples(st.integers(0, 3), st.integers(0, 40), st.integers(0, 40), st.integers(1, 60))
    versions = parts.map(lambda numbers: "v{}.{}.{}-eksbuild.{}".format(*numbers))
    stated = st.dictionaries(st.sampled_from(names), versions, max_size=6)
    return stated.map(lambda found: {name: _for(name, version, around) for name, version in found.items()})


def _for(addon: str, version: str, around: Surroundings) -> str:
    """Return a version; kube-proxy's is the cluster's."""
    return f"v{around.kubernetes}.0-eksbuild.1" if addon == "kube-proxy" else version


def _system_instances(around: Surroundings) -> list[str]:
    row = CATALOG.offerings.get(around.region)
    offered = {name for types in row.zones.values() for name in types} if row else set(_ROOM_GIB)
    return [name for name, room in _ROOM_GIB.items() if name in offered and around.head_memory_gib <= room]


def _other_zones(around: Surroundings) -> list[str]:
    if is_zone_id(around.zone):
        zones = [f"{zone_id_prefix(around.region)}-az{number}" for number in range(1, 7)]
    else:
        zones = [f"{around.region}{letter}" for letter in "abcdef"]
    return [zone for zone in zones if zone != around.zone and takes(zone)]


def _networks(nodes: int) -> st.SearchStrategy[str]:
    """Return the ranges, of every permitted size, whose private subnets have addresses for the nodes."""
    sizes = [size for size in range(WIDEST, NARROWEST + 1) if nodes <= _most_nodes(f"10.0.0.0/{size}")]
    ranges = st.tuples(st.integers(0, 2**32 - 1), st.sampled_from(sizes)).map(lambda parts: _cidr(*parts))
    return ranges.filter(_is_ordinary)


def _is_public(cidr: str) -> bool:
    network = IPv4Network(cidr)
    return network.is_global and not network.is_multicast


def _is_ordinary(cidr: str) -> bool:
    return not any(IPv4Network(cidr).overlaps(special) for special in SPECIAL)


def _cidr(address: int, size: int) -> str:
    return str(IPv4Network((address, size), strict=False))
