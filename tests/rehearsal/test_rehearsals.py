"""Mock rehearsals: Ray, its placement and its prefill/decode orchestration are real, the engine is the mock."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from constructs_pd.rehearsal import load, lose
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.faults import FAULTS
from constructs_pd.rehearsal.look import Found
from constructs_pd.rehearsal.supervisor import descendants
from support.listeners import is_loopback, listeners, with_user
from support.processes import ROOT
from support.rehearsal_stage import MOCK, Stage, stage_of
from support.specs import plan_with

COMMAND = "import sys; from constructs_pd.cli.main import main; sys.exit(main(sys.argv[1:]))"
SEVERAL = {
    "name": "several",
    "region": "us-west-2",
    "availability_zone": "us-west-2a",
    "model": {"source": "Qwen/Qwen3-8B", "max_model_len": 4096},
    "prefill": {"instance_type": "g6.12xlarge", "replicas": 2, "tensor_parallel": 2},
    "decode": {"instance_type": "g6.12xlarge", "replicas": 2, "tensor_parallel": 2},
}


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    """The reference deployment's, on which several configurations are looked at."""
    with stage_of(plan_with({})) as running:
        yield running


def failed(found: Found) -> set[str]:
    return {check.name for check in found.checks if not check.passed}


@pytest.fixture(scope="module")
def reference(stage: Stage) -> Found:
    """What is seen of the reference deployment, of which a replica and a node are lost."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(lose, "STEADY_SECONDS", 2.0)
        patched.setattr(lose, "CALM_SECONDS", 3.0)
        patched.setattr(load, "INTERVAL_SECONDS", 0.2)
        return stage.look(stage.document, replace(MOCK, lose=("decode-replica", "prefill-node")))


def test_the_reference_deployment_passes(reference: Found) -> None:
    found = reference
    assert failed(found) == set()
    assert len(found.checks) >= 7
    rows = {row.deployment.split(":")[0]: row for row in found.placed}
    prefill, decode = rows["Prefill"], rows["Decode"]
    assert (prefill.node, decode.node) == ("prefill-0", "decode-0")
    assert prefill.computed_tokens == decode.handed_over_tokens > 1000
    assert (prefill.handed_over_tokens, decode.computed_tokens) == (0, 0)
    assert decode.transferred_bytes > 0


def test_what_is_lost_under_load_comes_back_with_right_answers(reference: Found) -> None:
    assert [survived.loss for survived in reference.survived] == ["decode-replica", "prefill-node"]
    for survived in reference.survived:
        assert survived.wrong == survived.left_processes == 0
        assert survived.replaced_seconds is not None
        assert survived.endings["answered"] > 10
        # Nothing else serves this phase: who asks meanwhile waits for the new engine.
        assert survived.longest_wait_seconds > 1


def test_ray_knows_the_nodes_by_what_kuberay_gives_them(stage: Stage) -> None:
    groups = {node["labels"]["ray.io/node-group"]: node for node in stage.ray.dashboard.living_nodes().values()}
    assert set(groups) == {"head", "prefill", "decode"}
    for phase in stage.plan.phases:
        offered = groups[phase.name]["resources_total"]
        assert {name: offered[name] for name in phase.ray_resources} == phase.ray_resources
        assert (offered["CPU"], offered["GPU"]) == (phase.cpu_cores, phase.gpus_per_node)


def test_nothing_listens_beyond_this_machine(stage: Stage) -> None:
    found = listeners(descendants(stage.supervised.process))
    assert len(found) > 15
    assert [address for address in found.values() if not is_loopback(address)] == []


def test_swapped_roles_are_caught(stage: Stage) -> None:
    found = stage.look(FAULTS["kv-role"](stage.document))
    assert {
        "prefill is the producer of the KV cache and decode its consumer",
        "every request is answered",
    } <= failed(found)


def test_a_wrong_answer_is_caught(stage: Stage) -> None:
    found = stage.look(FAULTS["corrupt-answer"](stage.document))
    assert failed(found) == {"greedy answers equal those of the same engine serving aggregated"}


def test_a_misspelled_resource_is_named_within_a_minute(stage: Stage) -> None:
    begin = time.monotonic()
    with pytest.raises(RehearsalError, match=r"stays pending: no node offers the resource pd-prefil\n"):
        stage.look(FAULTS["phase-resource"](stage.document))
    assert time.monotonic() - begin < 60


def abandoned() -> set[Path]:
    """Return the folders of rehearsals that are over: the supervisor of any other one names its folder."""
    commands = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(OSError):
            commands.append(path.read_text(errors="replace"))
    return {folder for folder in Path("/tmp").glob("pd-*") if not any(str(folder) in command for command in commands)}


def started(*arguments: str, user: str) -> subprocess.Popen[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "COV_"))}
    return subprocess.Popen(
        [sys.executable, "-c", COMMAND, "rehearse", *arguments],
        cwd=ROOT,
        env={**environment, "USER": user},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_several_nodes_of_two_gpu_engines_pass_and_leave_nothing(tmp_path: Path) -> None:
    specification, user, before = tmp_path / "several.yaml", uuid.uuid4().hex, abandoned()
    specification.write_text(yaml.safe_dump(SEVERAL))
    with started(str(specification), "--engine", "mock", "--json", user=user) as rehearsal:
        printed, told = rehearsal.communicate(timeout=600)
    assert rehearsal.returncode == 0, told
    report = json.loads(printed)
    assert report["passed"]
    engines = [row for row in report["placed"] if row["deployment"] != "OpenAiIngress"]
    assert [(row["deployment"].split(":")[0].lower(), row["node"][:-2]) for row in engines] == [
        *[("decode", "decode")] * 2,
        *[("prefill", "prefill")] * 2,
    ]
    assert len({row["node"] for row in engines}) == 4
    assert all("pd-" in row["offers"] for row in engines)
    assert with_user(user) == []
    assert abandoned() <= before


def test_an_interrupted_rehearsal_leaves_nothing() -> None:
    user, before = uuid.uuid4().hex, abandoned()
    with started("apps/reference.yaml", "--engine", "mock", user=user) as rehearsal:
        assert rehearsal.stderr is not None
        for line in rehearsal.stderr:
            if "head is a Ray node" in line:
                break
        assert len(with_user(user)) > 3
        rehearsal.send_signal(signal.SIGINT)
        time.sleep(0.5)
        rehearsal.send_signal(signal.SIGINT)
        rest = rehearsal.stderr.read()
        rehearsal.wait(60)
    assert "interrupted: every process has ended and every file is gone" in rest
    assert "Traceback" not in rest
    assert rehearsal.returncode == 130
    assert with_user(user) == []
    assert abandoned() <= before
