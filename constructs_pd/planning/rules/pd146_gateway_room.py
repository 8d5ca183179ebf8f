"""PD146: a new cluster's system nodes have room for the gateway beside the head."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.gateway import CPU_REQUEST_MILLICORES, MEMORY_MIB
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.sizes import MIB_PER_GIB, MILLICORES_PER_CORE


@dataclass(frozen=True, slots=True)
class _Room:
    """The fullest system node: the head's, with as many of the gateway's pods as on any other."""

    nodes: int
    pods: int
    left_mib: int
    left_millicores: int

    @property
    def wanted_mib(self) -> int:
        return self.pods * MEMORY_MIB

    @property
    def wanted_millicores(self) -> int:
        return self.pods * CPU_REQUEST_MILLICORES


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
    head_millicores = defaults.HEAD_CPU_REQUEST_CORES * MILLICORES_PER_CORE
    left_millicores = row.allocatable_cpu_millicores - defaults.SYSTEM_RESERVE_CPU_MILLICORES - head_millicores
    return _Room(nodes, pods, left_mib, left_millicores)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for pods that take more than the head leaves; a head without room itself is PD221's."""
    room = _room(facts)
    if room is None or room.left_mib < 0:
        return
    if room.wanted_mib > room.left_mib or room.wanted_millicores > room.left_millicores:
        yield Violation(
            "endpoint.gateway.replicas",
            f"{room.pods} of the gateway's pods on each of {room.nodes} system nodes take {room.wanted_mib:,} MiB and "
            f"{room.wanted_millicores:,} thousandths of a CPU, the head leaves {room.left_mib:,} MiB and "
            f"{room.left_millicores:,} on its node",
            "have fewer replicas, more or larger eks_cluster.system_nodes, or less head.memory_gib",
        )


def worked(facts: Facts) -> Iterator[str]:
    """Yield memory and CPU of the head's node."""
    room = _room(facts)
    if room is None:
        yield "there is no gateway, or no cluster is made, or its type of system nodes is not known"
    else:
        yield f"{room.pods} pods x {MEMORY_MIB} MiB = {room.wanted_mib:,} MiB; the head leaves {room.left_mib:,} MiB"
        yield (
            f"{room.pods} pods x {CPU_REQUEST_MILLICORES} = {room.wanted_millicores:,} thousandths of a CPU; the head "
            f"leaves {room.left_millicores:,}"
        )


RULE = Rule(
    code="PD146",
    severity=Severity.ERROR,
    title="A new cluster's system nodes have room for the gateway beside the head",
    rationale="The Ray head, or a replica of the gateway, stays Pending.",
    source="the catalogue, system_instances.yaml",
    check=check,
    arithmetic="replicas / system nodes, rounded up, x 256 MiB and x 0.25 CPUs <= what a node has beside the head, and "
    "2.5 GiB and 0.5 CPUs for operators and DaemonSets",
    worked=worked,
)
