"""PD146: a new cluster's system nodes have room for the gateway beside the head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.gateway import MEMORY_MIB
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.sizes import MIB_PER_GIB


@dataclass(frozen=True, slots=True)
class _Room:
    """Memory of the fullest system node: the head's, with as many of the gateway's pods as on any other."""

    nodes: int
    pods: int
    pods_mib: int
    left_mib: int


def _room(facts: Facts) -> _Room | None:
    """Return the room, or none where nothing is made, nothing is asked for or a fact is missing."""
    gateway, cluster = facts.spec.endpoint.gateway, facts.spec.eks_cluster
    if gateway is None or cluster is None:
        return None
    row = facts.catalog.system_instances.get(cluster.system_nodes.instance_type)
    if row is None:
        return None
    nodes = cluster.system_nodes.count
    pods = -(-gateway.replicas // nodes)
    head_mib = facts.spec.head.memory_gib * MIB_PER_GIB
    left_mib = row.allocatable_memory_mib - defaults.SYSTEM_RESERVE_MEMORY_MIB - head_mib
    return _Room(nodes, pods, pods * MEMORY_MIB, left_mib)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for pods that take more than the head leaves; a head without room itself is PD221's."""
    room = _room(facts)
    if room is not None and room.pods_mib > room.left_mib >= 0:
        yield Violation(
            "endpoint.gateway.replicas",
            f"{room.pods} of the gateway's pods on each of {room.nodes} system nodes take {room.pods_mib:,} MiB, the "
            f"head leaves {room.left_mib:,} MiB on its node",
            "have fewer replicas, more or larger eks_cluster.system_nodes, or less head.memory_gib",
        )


def worked(facts: Facts) -> Iterator[str]:
    """Yield the memory of the head's node."""
    room = _room(facts)
    if room is None:
        yield "there is no gateway, or no cluster is made, or its type of system nodes is not known"
    else:
        yield f"{room.pods} pods x {MEMORY_MIB} MiB = {room.pods_mib:,} MiB; the head leaves {room.left_mib:,} MiB"


RULE = Rule(
    code="PD146",
    severity=Severity.ERROR,
    title="A new cluster's system nodes have room for the gateway beside the head",
    rationale="The Ray head, or a replica of the gateway, stays Pending.",
    source="the catalogue, system_instances.yaml",
    check=check,
    arithmetic="replicas / system nodes, rounded up, x 256 MiB <= what PD221 leaves of a node beside the head",
    worked=worked,
)
