"""What a deployment may lose while it serves, and which replicas and processes of a rehearsal that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from constructs_pd.rehearsal.checks import phase_of
from constructs_pd.rehearsal.dashboard import Replica
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.local_ray import LocalRay
from constructs_pd.rehearsal.supervisor import descendants

#: A Serve replica, by the phase that it is; the ingress is none.
REPLICAS: Final = {"prefill-replica": "prefill", "decode-replica": "decode", "ingress-replica": None}
#: The engine's own processes below a replica, as when CUDA fails.
ENGINES: Final = {"prefill-engine": "prefill", "decode-engine": "decode"}
#: The raylet, and with it every process of its pod.
NODES: Final = {"prefill-node": "prefill", "decode-node": "decode"}
LOSSES: Final = (*REPLICAS, *ENGINES, *NODES)


def lost_node_id(loss: str, ray: LocalRay) -> str | None:
    """Return Ray's id of the node that a loss takes, or none if it leaves every node."""
    return next((node_id for node_id, node in ray.nodes.items() if node.planned.group == NODES.get(loss)), None)


def lost_replicas(loss: str, running: Sequence[Replica], ray: LocalRay) -> list[Replica]:
    """Return the replicas that a loss takes."""
    node_id = lost_node_id(loss, ray)
    if node_id is not None:
        return [replica for replica in running if replica.node_id == node_id]
    phase = (REPLICAS | ENGINES)[loss]
    return [replica for replica in running if phase_of(replica.deployment) == phase][:1]


def victims(loss: str, running: Sequence[Replica], ray: LocalRay) -> set[int]:
    """Return the processes that a loss kills.

    Raises:
        RehearsalError: There is no such process.
    """
    node_id = lost_node_id(loss, ray)
    if node_id is not None:
        found = {process for process in descendants(ray.nodes[node_id].process) if _is_raylet(process)}
    elif loss in ENGINES:
        found = descendants(lost_replicas(loss, running, ray)[0].process)
    else:
        found = {lost_replicas(loss, running, ray)[0].process}
    if not found:
        raise RehearsalError(f"{loss} has no process of its own here", "leave it out: the mock is within its replica")
    return found


def _is_raylet(process: int) -> bool:
    try:
        return Path(Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")[0]).name == "raylet"
    except OSError:
        return False
