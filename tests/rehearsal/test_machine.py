"""What a rehearsal cannot start without is named before anything starts."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from constructs_pd.rehearsal import ports
from constructs_pd.rehearsal.engines import Engine, engine, engine_folder, other_versions
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.machine import needed_gib, require_linux, require_memory
from constructs_pd.rehearsal.nodes import planned_nodes
from support.specs import plan_with


def machine(root: Path, groups: str, **files: str) -> Path:
    """Write what Linux says of a machine of which 3 GiB are available, and of its control groups."""
    (root / "proc/self").mkdir(parents=True)
    (root / "proc/meminfo").write_text("MemTotal: 8388608 kB\nMemAvailable:    3145728 kB\n")
    (root / "proc/self/cgroup").write_text(groups)
    for path, text in files.items():
        (root / "sys/fs/cgroup" / path).parent.mkdir(parents=True, exist_ok=True)
        (root / "sys/fs/cgroup" / path).write_text(text)
    return root


def test_too_little_memory_is_refused_with_both_numbers(tmp_path: Path) -> None:
    root = machine(tmp_path, "0::/\n")
    require_memory(2.9, root)
    with pytest.raises(RehearsalError, match=r"takes about 8\.0 GiB of memory, 3\.0 GiB are available"):
        require_memory(8.0, root)


GIB = 1024**3
VERSION_2 = {"memory.max": f"{2 * GIB}", "memory.current": f"{GIB}", "memory.stat": f"inactive_file {GIB // 2}\n"}
VERSION_1 = {
    "memory.limit_in_bytes": f"{2 * GIB}",
    "memory.usage_in_bytes": f"{GIB}",
    "memory.stat": f"inactive_file 0\ntotal_inactive_file {GIB // 2}\n",
}


@pytest.mark.parametrize(
    ("groups", "folder", "files"),
    [
        ("0::/pods/own\n", "pods/own", VERSION_2),
        ("0::/pods/own\n", "pods", VERSION_2),
        ("0::/of/the/host\n", ".", VERSION_2),
        ("3:cpu:/x\n2:memory:/docker/own\n", "memory/docker/own", VERSION_1),
        ("2:memory:/docker/own\n0::/\n", "memory", VERSION_1),
    ],
)
def test_a_containers_limit_counts(groups: str, folder: str, files: dict[str, str], tmp_path: Path) -> None:
    root = machine(tmp_path, groups, **{f"{folder}/{name}": text for name, text in files.items()})
    require_memory(1.4, root)
    with pytest.raises(RehearsalError, match=r"1\.5 GiB are available"):
        require_memory(1.6, root)


def test_a_container_without_a_limit_has_the_machines_memory(tmp_path: Path) -> None:
    files = VERSION_2 | {"memory.max": "max\n"}
    root = machine(tmp_path, "0::/own\n", **{f"own/{name}": text for name, text in files.items()})
    require_memory(2.9, root)


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


def test_rehearsals_that_start_at_once_take_different_ranges() -> None:
    assert len({ports.free_range(4).start for _ in range(8)}) > 1


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


def test_other_versions_than_the_plans_are_named(tmp_path: Path) -> None:
    versions = plan_with().versions
    chosen = Engine("vllm", tmp_path / "bin" / "python", {})
    assert other_versions(chosen, versions) == []
    packages = tmp_path / "lib" / "python3.11" / "site-packages"
    for name in ("ray-2.57.0", "vllm-0.26.0+cpu", "nixl-1.3.1"):
        (packages / f"{name}.dist-info").mkdir(parents=True)
    (found,) = other_versions(chosen, versions)
    assert found.startswith("this environment has ray 2.57.0, the plan's image 2.58.0")
    assert other_versions(engine("mock", "0.26.0"), versions) == []


def test_the_mock_names_what_it_misses(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "MockEngine" in engine("mock", "0.26.0").environment["RAYLLM_VLLM_ENGINE_CLS"]
    monkeypatch.setattr("constructs_pd.rehearsal.engines.find_spec", lambda name: None)
    with pytest.raises(RehearsalError, match=r"the mock engine needs ray\.serve, fastapi"):
        engine("mock", "0.26.0")
