"""What a loss takes."""

from __future__ import annotations

import os
import subprocess
import sys
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from constructs_pd.rehearsal import lose
from constructs_pd.rehearsal.dashboard import Dashboard, Replica
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.load import Load, Request
from constructs_pd.rehearsal.local_ray import LocalRay, RayNode
from constructs_pd.rehearsal.lose import is_whole
from constructs_pd.rehearsal.losses import LOSSES, lost_node_id, lost_replicas, require_losses, victims
from constructs_pd.rehearsal.nodes import PlannedNode
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.questions import Answer, Question


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


def test_an_engine_without_a_process_is_named() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as child:
        with pytest.raises(RehearsalError, match="prefill-engine has no process to kill"):
            victims("prefill-engine", [Replica("Prefill:own", "p1", "p", child.pid)], RAY)
        child.kill()


def test_only_the_raylet_of_a_node_is_killed(tmp_path: Path) -> None:
    (tmp_path / "raylet").symlink_to(sys.executable)
    sleeps = ["-c", "import time; time.sleep(60)"]
    with (
        subprocess.Popen([tmp_path / "raylet", *sleeps]) as raylet,
        subprocess.Popen([sys.executable, *sleeps]) as other,
    ):
        assert raylet.pid in victims("decode-node", RUNNING, RAY)
        assert other.pid not in victims("decode-node", RUNNING, RAY)
        raylet.kill()
        other.kill()


def test_what_does_not_run_cannot_be_lost() -> None:
    with pytest.raises(RehearsalError, match="decode-replica cannot be lost: none runs"):
        lost_replicas("decode-replica", RUNNING[:1], RAY)


@pytest.mark.parametrize(
    ("options", "context_tokens", "message"),
    [
        (Options("mock", lose=("ingress-replica", "decode-engine")), 4096, "decode-engine has no process of its own"),
        (Options("vllm", lose=("decode-node",)), 87, "have 88 tokens at least, max_model_len is 87"),
    ],
)
def test_a_loss_that_cannot_be_shown_is_refused(options: Options, context_tokens: int, message: str) -> None:
    with pytest.raises(RehearsalError, match=message):
        require_losses(options, context_tokens)


def test_other_losses_are_not_refused() -> None:
    require_losses(Options("mock", lose=("decode-replica",)), 88)
    require_losses(Options("vllm", lose=("decode-engine",)), 4096)
    require_losses(Options("mock"), 16)


class Asked(Load):
    """A load whose requests are made up."""

    def __init__(self, ended: list[Request], waits_since: float | None) -> None:
        self.all, self.oldest = ended, waits_since

    def ended(self) -> list[Request]:
        return self.all

    def waits_since(self) -> float | None:
        return self.oldest


def asked(begun: float, ending: str) -> Request:
    return Request(Question("one", "/", {}), False, begun, begun + 1, ending, "", Answer())


@pytest.mark.parametrize(
    ("ended", "waits_since", "calm"),
    [
        ([asked(125, "answered")], None, True),
        ([asked(125, "answered")], 138, True),
        ([], None, False),
        ([asked(90, "answered")], None, False),
        ([asked(125, "answered"), asked(126, "status 500")], None, False),
        ([asked(125, "answered")], 120, False),
        ([asked(105, "status 500"), asked(125, "answered")], None, True),
    ],
)
def test_calm_is_when_requests_are_answered_and_none_fails_or_hangs(
    ended: list[Request], waits_since: float | None, monkeypatch: pytest.MonkeyPatch, *, calm: bool
) -> None:
    times = iter([140.0, 140.0, 200.0])
    clock = SimpleNamespace(monotonic=lambda: next(times), sleep=lambda seconds: None)
    monkeypatch.setattr(lose, "time", clock)
    assert lose._is_calm(Asked(ended, waits_since), 119.0, 150.0) is calm


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


def test_a_loss_is_not_judged_where_nothing_is_compared() -> None:
    with pytest.raises(RehearsalError, match="2 to lose and --hold"):
        require_losses(Options("mock", lose=("decode-node", "decode-replica"), hold=True), 4096)
    require_losses(Options("mock", hold=True), 4096)
