"""What a deployment may lose while it serves, and which replicas and processes of a rehearsal that is."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from constructs_pd.rehearsal.checks import phase_of
from constructs_pd.rehearsal.dashboard import Replica
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.load import LEAST_CONTEXT_TOKENS
from constructs_pd.rehearsal.local_ray import LocalRay
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.supervisor import descendants

#: A Serve replica, by the phase that it is; the ingress is none.
REPLICAS: Final = {"prefill-replica": "prefill", "decode-replica": "decode", "ingress-replica": None}
#: The engine's own processes below a replica, as when CUDA fails.
ENGINES: Final = {"prefill-engine": "prefill", "decode-engine": "decode"}
#: The raylet, and with it every process of its pod.
NODES: Final = {"prefill-node": "prefill", "decode-node": "decode"}
LOSSES: Final = (*REPLICAS, *ENGINES, *NODES)


def require_losses(options: Options, context_tokens: int) -> None:
    """Refuse losses that this rehearsal cannot show, before anything starts.

    Raises:
        RehearsalError: The engine is no process of its own, or no request of a loss fits the context.
    """
    engines = sorted(set(options.lose) & ENGINES.keys())
    if engines and options.engine == "mock":
        raise RehearsalError(f"{engines[0]} has no process of its own: the mock is within its replica", "leave it out")
    if options.lose and options.hold:
        raise RehearsalError(
            f"{len(options.lose)} to lose and --hold: a loss is judged by comparing, which --hold leaves out",
            "leave one of them out",
        )
    if options.lose and context_tokens < LEAST_CONTEXT_TOKENS:
        raise RehearsalError(
            f"the requests of a loss have {LEAST_CONTEXT_TOKENS} tokens at least, max_model_len is {context_tokens}",
            "leave --lose out, or state a longer context",
        )


def lost_node_id(loss: str, ray: LocalRay) -> str | None:
    """Return Ray's id of the node that a loss takes, or none if it leaves every node."""
    return next((node_id for node_id, node in ray.nodes.items() if node.planned.group == NODES.get(loss)), None)


def lost_replicas(loss: str, running: Sequence[Replica], ray: LocalRay) -> list[Replica]:
    """Return the replicas that a loss takes.

    Raises:
        RehearsalError: There is none.
    """
    node_id = lost_node_id(loss, ray)
    if node_id is not None:
        return [replica for replica in running if replica.node_id == node_id]
    phase = (REPLICAS | ENGINES)[loss]
    found = [replica for replica in running if phase_of(replica.deployment) == phase]
    if not found:
        raise RehearsalError(
            f"{loss} cannot be lost: none runs", "allow more with --timeout, so that an earlier one is back"
        )
    return found[:1]


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
        raise RehearsalError(f"{loss} has no process to kill", "see the engine's log")
    return found


def _is_raylet(process: int) -> bool:
    try:
        return Path(Path(f"/proc/{process}/cmdline").read_text(errors="replace").split("\0")[0]).name == "raylet"
    except OSError:
        return False
