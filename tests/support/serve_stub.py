"""A small stand-in for Ray Serve behind the gateway: it keeps what reaches it, and streams as it is told to."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any, Final

from support.openai_stub import served

HEALTH: Final = "/-/healthz"


@dataclass(frozen=True, slots=True)
class Received:
    """A request as it reached the server."""

    method: str
    path: str
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def values(self, name: str) -> list[str]:
        """Return every value of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class ServeStub:
    """What the stand-in has seen. Health checks are not kept.

    Attributes:
        address: Its address, host:port.
        received: Requests, in the order in which their bodies were read.
        most_at_once: The most requests that were answered at one time.
        hung_up: Answers whose client went away before their end.
        healthy: Whether it says that it is well.
    """

    address: str = ""
    received: list[Received] = field(default_factory=list)
    most_at_once: int = 0
    hung_up: int = 0
    healthy: bool = True
    _now: int = 0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @contextmanager
    def answering(self) -> Iterator[None]:
        """Count a request while it is answered."""
        with self._lock:
            self._now += 1
            self.most_at_once = max(self.most_at_once, self._now)
        try:
            yield
        finally:
            with self._lock:
                self._now -= 1

    def keep(self, received: Received) -> None:
        """Keep a request."""
        with self._lock:
            self.received.append(received)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    stub: ServeStub

    def log_message(self, *arguments: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        if self.path == HEALTH:
            self._answer(200 if self.stub.healthy else 503, b"success")
            return
        self._keep(b"")
        self._answer(200, b"{}")

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._keep(body)
        try:
            told = json.loads(body)
        except ValueError:
            told = {}
        with self.stub.answering():
            if told.get("stream"):
                self._stream(told.get("chunks", 3), told.get("pause", 0.0))
            else:
                self._wait(told.get("pause", 0.0))
                self._answer(200, json.dumps(ANSWER).encode())

    def _keep(self, body: bytes) -> None:
        self.stub.keep(Received(self.command, self.path, tuple(self.headers.items()), body))

    def _answer(self, status: int, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, chunks: int, pause: float) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for number in range(chunks):
                if number:
                    time.sleep(pause)
                self._chunk(f"data: {json.dumps(_chunk_of(str(number)))}\n\n".encode())
            self._chunk(b"data: [DONE]\n\n")
            self.wfile.write(b"0\r\n\r\n")
        except OSError:
            self.stub.hung_up += 1

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
        self.wfile.flush()

    def _wait(self, seconds: float) -> None:
        """Wait, and notice who hangs up meanwhile, as Ray Serve's proxy does."""
        end = time.monotonic() + seconds
        self.connection.settimeout(0.05)
        while time.monotonic() < end:
            try:
                if self.connection.recv(1) == b"":
                    self.stub.hung_up += 1
                    return
            except TimeoutError:
                continue
            except OSError:
                self.stub.hung_up += 1
                return
        self.connection.settimeout(None)


_CHOICE: Final = {"index": 0, "finish_reason": "stop"}
ANSWER: Final = {
    "id": "chatcmpl-1",
    "object": "chat.completion",
    "created": 1,
    "model": "stub",
    "choices": [{**_CHOICE, "message": {"role": "assistant", "content": "hello"}}],
}


def _chunk_of(content: str) -> dict[str, Any]:
    choice = {"index": 0, "delta": {"content": content}, "finish_reason": None}
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1, "model": "stub", "choices": [choice]}


@contextmanager
def serving() -> Iterator[ServeStub]:
    """Serve on a free port of 127.0.0.1."""
    stub = ServeStub()
    with served(type("ServeStubHandler", (_Handler,), {"stub": stub})) as address:
        stub.address = address.removeprefix("http://")
        yield stub
