"""PD221: a new cluster's system nodes are of a known type with room for the head."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning import defaults
from constructs_pd.planning.catalog.rows import SystemInstanceRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.rules.suggest import known_names
from constructs_pd.planning.sizes import MIB_PER_GIB

SUBJECT = "eks_cluster.system_nodes.instance_type"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for a type that is not known, not offered in the region, or too small for the head."""
    cluster, rows = facts.spec.eks_cluster, facts.catalog.system_instances
    if cluster is None:
        return
    name = cluster.system_nodes.instance_type
    row = rows.get(name)
    if row is None:
        yield Violation(
            SUBJECT,
            f"{name!r} is none of the {len(rows)} known types for system nodes",
            known_names(name, rows),
        )
        return
    zones = facts.offerings.zones.values() if facts.offerings else ()
    offered = sorted(other for other in rows if not zones or any(other in types for types in zones))
    if name not in offered:
        yield Violation(
            SUBJECT, f"0 of {len(zones)} zones of {facts.spec.region} offer {name}", f"choose {', '.join(offered)}"
        )
    room, needed = _room(row), facts.spec.head.memory_gib * MIB_PER_GIB
    if needed > room:
        larger = [other for other in offered if needed <= _room(rows[other])]
        yield Violation(
            SUBJECT,
            f"the head takes {needed:,} MiB, {name} leaves it {room:,} MiB",
            f"choose {', '.join(larger)}" if larger else f"lower head.memory_gib to {room // MIB_PER_GIB} or less",
        )


def _room(row: SystemInstanceRow) -> int:
    return row.allocatable_memory_mib - defaults.SYSTEM_RESERVE_MEMORY_MIB


def worked(facts: Facts) -> Iterator[str]:
    """Yield the memory of the system nodes."""
    cluster = facts.spec.eks_cluster
    row = facts.catalog.system_instances.get(cluster.system_nodes.instance_type) if cluster else None
    if cluster is None:
        yield "no system nodes are made: the cluster exists"
    elif row is None:
        yield f"{cluster.system_nodes.instance_type} is not known"
    else:
        yield (
            f"head {facts.spec.head.memory_gib * MIB_PER_GIB:,} MiB; {_room(row):,} MiB = "
            f"{row.allocatable_memory_mib:,} MiB allocatable of {row.instance_type} - "
            f"{defaults.SYSTEM_RESERVE_MEMORY_MIB:,} MiB"
        )


RULE = Rule(
    code="PD221",
    severity=Severity.ERROR,
    title="A new cluster's system nodes are of a known type with room for the head",
    rationale="The node group starts no instance, or the Ray head stays Pending.",
    source="the catalogue, system_instances.yaml and offerings.yaml",
    check=check,
    arithmetic="head.memory_gib <= allocatable memory of the type - 2.5 GiB for operators and DaemonSets",
    worked=worked,
)
