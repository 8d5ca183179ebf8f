"""What a loss takes."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from typing import Any

import pytest

from constructs_pd.rehearsal.dashboard import Dashboard, Replica
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.local_ray import LocalRay, RayNode
from constructs_pd.rehearsal.lose import is_whole
from constructs_pd.rehearsal.losses import LOSSES, lost_node_id, lost_replicas, victims
from constructs_pd.rehearsal.nodes import PlannedNode


def node(group: str) -> RayNode:
    return RayNode(PlannedNode(f"{group}-0", group, 1, 0, 1, {}, {}, {}), 1, os.getpid(), (), {})


RAY = LocalRay({"h": node("head"), "p": node("prefill"), "d": node("decode")}, Dashboard(1))
RUNNING = [
    Replica("Prefill:own", "p1", "p", 11),
    Replica("Decode:own", "d1", "d", 21),
    Replica("OpenAiIngress", "i1", "d", 31),
    Replica("OpenAiIngress", "i2", "d", 32),
]


@pytest.mark.parametrize(
    ("loss", "node_id", "replicas"),
    [
        ("prefill-replica", None, ["p1"]),
        ("decode-replica", None, ["d1"]),
        ("ingress-replica", None, ["i1"]),
        ("prefill-engine", None, ["p1"]),
        ("decode-engine", None, ["d1"]),
        ("prefill-node", "p", ["p1"]),
        ("decode-node", "d", ["d1", "i1", "i2"]),
    ],
)
def test_a_loss_takes_replicas(loss: str, node_id: str | None, replicas: list[str]) -> None:
    assert lost_node_id(loss, RAY) == node_id
    assert [replica.replica_id for replica in lost_replicas(loss, RUNNING, RAY)] == replicas


def test_every_loss_is_tried_above() -> None:
    mark = next(mark for mark in test_a_loss_takes_replicas.pytestmark if mark.name == "parametrize")  # type: ignore[attr-defined]
    assert tuple(row[0] for row in mark.args[1]) == LOSSES


def test_a_replica_is_its_process_and_an_engine_the_processes_below() -> None:
    assert victims("decode-replica", RUNNING, RAY) == {21}
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        own = [Replica("Prefill:own", "p1", "p", os.getpid())]
        assert child.pid in victims("prefill-engine", own, RAY)
        child.kill()


def test_an_engine_within_its_replica_is_no_loss_of_its_own() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        with pytest.raises(RehearsalError, match="prefill-engine has no process of its own"):
            victims("prefill-engine", [Replica("Prefill:own", "p1", "p", child.pid)], RAY)
        child.kill()


STATE: dict[str, Any] = {
    "status": "RUNNING",
    "deployments": {
        "Prefill": {"target_num_replicas": 1, "replicas": [{"state": "RUNNING", "replica_id": "p1"}]},
        "Ingress": {
            "target_num_replicas": 2,
            "replicas": [{"state": "RUNNING", "replica_id": "i1"}, {"state": "RUNNING", "replica_id": "i2"}],
        },
    },
}


def test_an_application_is_whole_when_nothing_of_it_is_gone() -> None:
    assert is_whole(STATE, set())
    assert is_whole(STATE, {"another"})
    assert not is_whole(STATE, {"i2"})


def test_it_is_not_whole_while_it_changes() -> None:
    assert not is_whole({**STATE, "status": "DEPLOYING"}, set())
    starting = deepcopy(STATE)
    starting["deployments"]["Prefill"]["replicas"][0]["state"] = "STARTING"
    assert not is_whole(starting, set())
