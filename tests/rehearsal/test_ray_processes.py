"""What a rehearsal puts into Ray's own processes, each tested in a process of its own or by its parts."""

from __future__ import annotations

import json
import os
import runpy
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from constructs_pd.rehearsal import supervisor
from constructs_pd.rehearsal.engines import engine
from constructs_pd.rehearsal.mock import vllm_stand_in
from constructs_pd.rehearsal.supervisor import descendants, main
from support.processes import ROOT, python

SITE = ROOT / "constructs_pd" / "rehearsal" / "site"


def test_the_stand_in_is_what_ray_takes_from_vllm_and_nothing_else() -> None:
    code = (
        "from ray.llm._internal.serve.serving_patterns.prefill_decode import builder\n"
        "import dataclasses\n"
        "from vllm import envs\n"
        "from vllm.engine.arg_utils import AsyncEngineArgs\n"
        "assert 'max_model_len' in {field.name for field in dataclasses.fields(AsyncEngineArgs)}\n"
        "assert envs.is_set('VLLM_NIXL_SIDE_CHANNEL_PORT') and envs.VLLM_NIXL_SIDE_CHANNEL_PORT == 5\n"
        "try: import vllm.v1\nexcept ModuleNotFoundError: print('as it should be')\n"
    )
    mock = {**engine("mock", "0.26.0").environment, "VLLM_NIXL_SIDE_CHANNEL_PORT": "5"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code], env=mock, capture_output=True, text=True, check=False
    )
    assert done.stdout.strip().endswith("as it should be"), done.stderr


def test_its_modules_have_their_contents(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(vllm_stand_in.ENGINE_ARGUMENTS_VARIABLE, "a,b")
    assert set(vllm_stand_in.contents("vllm.engine.arg_utils")) == {"AsyncEngineArgs"}
    assert "ChatCompletionRequest" in vllm_stand_in.contents("vllm.entrypoints.openai.chat_completion.protocol")
    assert {"ErrorInfo", "ErrorResponse"} == set(vllm_stand_in.contents("vllm.entrypoints.openai.engine.protocol"))
    assert vllm_stand_in.contents("vllm.entrypoints") == {}
    envs = vllm_stand_in.contents("vllm.envs")
    monkeypatch.setenv("VLLM_NIXL_SIDE_CHANNEL_HOST", "127.0.0.1")
    assert envs["__getattr__"]("VLLM_NIXL_SIDE_CHANNEL_HOST") == "127.0.0.1"
    assert envs["is_set"]("VLLM_NIXL_SIDE_CHANNEL_HOST")
    with pytest.raises(AttributeError):
        envs["__getattr__"]("VLLM_OTHER")


def test_installing_it_twice_is_installing_it_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    vllm_stand_in.install()
    vllm_stand_in.install()
    (finder,) = (each for each in sys.meta_path if type(each).__module__ == vllm_stand_in.__name__)
    assert finder.find_spec("vllm.engine", None) is not None
    assert finder.find_spec("vllm.v1", None) is None
    assert finder.find_spec("json", None) is None


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the processes' sitecustomize defines."""
    monkeypatch.setattr(sys, "meta_path", list(sys.meta_path))
    monkeypatch.delenv("RAYLLM_VLLM_ENGINE_CLS", raising=False)
    return runpy.run_path(str(SITE / "sitecustomize.py"))


@pytest.mark.parametrize(
    ("asked", "added"),
    [("[::]:0", "127.0.0.1:0"), ("0.0.0.0:7", "127.0.0.1:7"), ("192.0.2.1:7", "192.0.2.1:7")],
)
def test_a_port_of_all_addresses_becomes_one_of_the_loopback_address(
    asked: str, added: str, site: dict[str, Any]
) -> None:
    assert site["on_loopback"](lambda server, address: address)(None, asked) == added


def test_a_store_of_the_loopback_address_is_handed_a_socket_of_it(site: dict[str, Any]) -> None:
    def store(master_listen_fd: int, **_: Any) -> socket.socket:
        return socket.socket(fileno=master_listen_fd)

    with site["store_on_loopback"](store)(host_name="127.0.0.1", port=0, is_master=True) as listening:
        assert listening.getsockname()[0] == "127.0.0.1"
        assert listening.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)


@pytest.mark.parametrize(("host", "is_master"), [("127.0.0.1", False), ("192.0.2.1", True)])
def test_another_store_is_made_as_it_was_asked_for(host: str, is_master: bool, site: dict[str, Any]) -> None:
    asked = {"host_name": host, "port": 7, "is_master": is_master}
    assert site["store_on_loopback"](lambda **options: options)(**asked) == asked


def test_a_store_that_cannot_be_made_leaves_no_socket(site: dict[str, Any]) -> None:
    held: list[int] = []

    def store(master_listen_fd: int, **_: Any) -> None:
        held.append(master_listen_fd)
        raise RuntimeError

    with pytest.raises(RuntimeError):
        site["store_on_loopback"](store)(host_name="127.0.0.1", port=0, is_master=True)
    with pytest.raises(OSError, match="Bad file descriptor"):
        os.fstat(held[0])


def test_rays_function_is_the_changed_one_in_its_processes() -> None:
    code = "from ray._common.tls_utils import add_port_to_grpc_server as add; print(add.__qualname__)"
    done = python("-c", code, PYTHONPATH=str(SITE))
    assert done.stdout.strip() == "on_loopback.<locals>.add", done.stderr


def test_pytorchs_store_is_the_changed_one_in_its_processes(tmp_path: Path) -> None:
    package = tmp_path / "torch" / "distributed"
    package.mkdir(parents=True)
    (package / "rendezvous.py").write_text("class TCPStore: pass\n")
    code = "from torch.distributed.rendezvous import TCPStore; print(TCPStore.__qualname__)"
    done = python("-c", code, PYTHONPATH=f"{SITE}:{tmp_path}")
    assert done.stdout.strip() == "store_on_loopback.<locals>.make", done.stderr


def test_a_supervisor_obeys_until_its_orders_end(tmp_path: Path) -> None:
    """In a process of its own: it becomes the parent of orphans and ignores signals."""
    orders = [
        {"argv": ["sleep", "600"], "environment": dict(os.environ), "log": "sleep"},
        {"argv": ["/nowhere"], "environment": {}, "log": "nothing"},
    ]
    folder = tmp_path / "folder"
    folder.mkdir()
    given = "".join(json.dumps(order) + "\n" for order in orders)
    done = python("-I", supervisor.__file__, str(folder), given=given)
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first["pid"] not in descendants(os.getpid())
    assert "No such file" in second["error"]
    assert not folder.exists()
    assert main is supervisor.main
