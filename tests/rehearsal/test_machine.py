"""What a rehearsal cannot start without is named before anything starts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from constructs_pd.rehearsal import ports
from constructs_pd.rehearsal.engines import engine, engine_folder
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.machine import needed_gib, require_linux, require_memory
from constructs_pd.rehearsal.nodes import planned_nodes
from support.specs import plan_with


def test_too_little_memory_is_refused_with_both_numbers(tmp_path: Path) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text("MemTotal: 8388608 kB\nMemAvailable:    3145728 kB\n")
    require_memory(2.9, meminfo)
    with pytest.raises(RehearsalError, match=r"takes about 8\.0 GiB of memory, 3\.0 GiB are available"):
        require_memory(8.0, meminfo)


def test_more_engines_take_more_memory() -> None:
    few, many = (planned_nodes(plan_with({"decode.replicas": count})) for count in (1, 4))
    assert needed_gib(few, "mock", 1) < needed_gib(many, "mock", 1) < needed_gib(many, "vllm", 1)
    assert needed_gib(few, "vllm", 1) < needed_gib(few, "vllm", 2)


def test_other_systems_are_refused() -> None:
    require_linux("linux")
    with pytest.raises(RehearsalError, match="needs Linux, this is darwin"):
        require_linux("darwin")


def test_a_port_in_use_is_named() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(RehearsalError, match=rf"port {port} of 127\.0\.0\.1 is in use"):
            ports.require_free(port)
        assert port not in ports.free_ports(5)
    ports.require_free(port)


def test_ranges_do_not_meet(monkeypatch: pytest.MonkeyPatch) -> None:
    first = ports.free_range(8)
    second = ports.free_range(8, [first])
    assert not set(first) & set(second)
    monkeypatch.setattr(ports, "is_free", lambda port: False)
    with pytest.raises(RehearsalError, match="no 8 TCP ports in a row are free"):
        ports.free_range(8)


def test_a_missing_real_engine_is_named_with_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONSTRUCTS_PD_ENGINE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert engine_folder() == tmp_path / "constructs-pd" / "engine"
    with pytest.raises(RehearsalError, match="build it with `make rehearse-environment`"):
        engine("vllm", "0.26.0")


def test_a_real_engine_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CONSTRUCTS_PD_ENGINE", str(tmp_path))
    (tmp_path / "bin").mkdir()
    for name in (".ready", "bin/python"):
        (tmp_path / name).touch()
    found = engine("vllm", "0.26.0")
    assert found.python == tmp_path / "bin" / "python"
    assert found.environment["HF_HUB_OFFLINE"] == "1"


def test_the_mock_names_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "MockEngine" in engine("mock", "0.26.0").environment["RAYLLM_VLLM_ENGINE_CLS"]
    monkeypatch.setattr("constructs_pd.rehearsal.engines.find_spec", lambda name: None)
    with pytest.raises(RehearsalError, match=r"the mock engine needs ray\.serve, fastapi"):
        engine("mock", "0.26.0")
