"""Which way a KV cache takes between two instances, and how quick it is there."""

from __future__ import annotations

from math import ceil

from constructs_pd.planning.catalog.rows import InstanceRow, PathName, TransferPathRow
from constructs_pd.planning.facts import Facts, PhaseFacts

FALL_BACKS: tuple[PathName, ...] = ("tcp_limit", "tcp")


def planned_path(facts: Facts) -> TransferPathRow | None:
    """Return the way that the deployment's pair of instances takes; none where one of them is not known.

    It is EFA in any case: FI_PROVIDER allows no other, and without EFA an engine does not start. Both ends must have
    GPUDirect RDMA and reads in hardware for the quick way; where nobody says, they count as without.
    """
    ends = [phase.instance for phase in facts.phases]
    if any(end is None for end in ends):
        return None
    is_direct = all(end and end.gpu.gpudirect_rdma and end.efa.rdma_read for end in ends)
    return facts.catalog.transfer_paths["efa_gpudirect" if is_direct else "efa_staged"]


def engine_gbps(facts: Facts, phase: PhaseFacts, path: TransferPathRow) -> float:
    """Return what one engine of a phase sends or receives on a path, in Gbit/s; 0 where its instance is not known."""
    if phase.instance is None or phase.tensor_parallel is None:
        return 0.0
    is_tcp = path.path in FALL_BACKS
    line = _first_card_gbps(phase.instance) if is_tcp else _efa_gbps(phase.instance, phase.tensor_parallel)
    limits = [line * path.efficiency]
    if path.engine_gbps is not None:
        limits.append(path.engine_gbps)
    flow = path.group_flow_gbps if _in_one_group(facts) else path.flow_gbps
    if flow is not None:
        limits.append(flow * (facts.decode.tensor_parallel or 1))
    return min(limits)


def limit_gbps(phase: PhaseFacts, path: TransferPathRow) -> float:
    """Return what one engine of a phase has never been seen to surpass on EFA, in Gbit/s."""
    if phase.instance is None or phase.tensor_parallel is None:
        return 0.0
    return _efa_gbps(phase.instance, phase.tensor_parallel) * path.best_efficiency


def pair_gbps(facts: Facts, path: TransferPathRow) -> float:
    """Return what a prefill and a decode engine get between them, in Gbit/s: the less of both."""
    return min(engine_gbps(facts, phase, path) for phase in facts.phases)


def is_capped(facts: Facts, path: TransferPathRow) -> bool:
    """Return whether a pair of engines is held back by the most of an engine, so that quicker links change nothing."""
    return path.engine_gbps is not None and pair_gbps(facts, path) >= path.engine_gbps


def _efa_gbps(instance: InstanceRow, tensor_parallel: int) -> float:
    """Return the line rate of the interfaces beside an engine's GPUs: NIXL gives each GPU those nearest to it.

    Source: NIXL 1.3.1 libfabric_topology.cpp, buildTopologyAwareGrouping.
    """
    interfaces = instance.efa.interfaces
    share = ceil(min(tensor_parallel, instance.gpu.count) * interfaces / instance.gpu.count)
    return instance.efa.bandwidth_gbps * share / interfaces


def _first_card_gbps(instance: InstanceRow) -> float:
    """Return the line rate of the card that carries the pods' addresses."""
    return instance.efa.bandwidth_gbps / instance.efa.network_cards


def _in_one_group(facts: Facts) -> bool:
    """Return whether the nodes of both phases stand in one cluster placement group."""
    reserved = [phase.spec.reservation for phase in facts.phases if phase.spec.capacity != "on_demand"]
    if not reserved:
        return facts.spec.nodes.placement_group == "cluster"
    groups = {reservation.placement_group if reservation else None for reservation in reserved}
    return len(reserved) == len(facts.phases) and len(groups) == 1 and None not in groups
