"""What answers the operator in the place of Ray's dashboards, which nobody starts here.

The operator is told to go through an HTTP proxy, which is this: it reaches the dashboard of every head by the head's
name, which no name server here knows. Of an application that it was given it says that it runs, unless a test says
that it does not yet.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit

APPLICATIONS = "/api/serve/applications/"


@dataclass(frozen=True)
class Question:
    """A request of the operator: whom it was for, what it was, and the token that came with it."""

    host: str
    port: int | None
    method: str
    path: str
    token: str | None

    @property
    def cluster(self) -> str:
        """The RayCluster whose head it was for."""
        return self.host.partition(".")[0].removesuffix("-head-svc")


@dataclass
class Dashboards:
    """The dashboards of all heads.

    Attributes:
        address: Where the operator finds them, as an HTTP proxy.
        questions: What the operator asked, in order.
        configs: What the operator had Serve run, in order: the head's RayCluster and the configuration.
        deploying: RayClusters whose applications do not run yet.
    """

    address: str = ""
    questions: list[Question] = field(default_factory=list)
    configs: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    deploying: set[str] = field(default_factory=set)
    _applications: dict[str, list[str]] = field(default_factory=dict)

    def of_namespace(self, namespace: str) -> list[Question]:
        """Return what was asked of the heads of a namespace."""
        return [asked for asked in list(self.questions) if asked.host.split(".")[1:2] == [namespace]]

    def answer(self, question: Question, body: bytes) -> tuple[int, dict[str, Any]]:
        """Return status and content of an answer."""
        self.questions.append(question)
        if question.path != APPLICATIONS:
            return 404, {}
        if question.method == "PUT":
            config = json.loads(body)
            self._applications[question.host] = [each["name"] for each in config["applications"]]
            self.configs.append((question.cluster, config))
            return 200, {}
        running: dict[str, Any] = {
            "status": "DEPLOYING" if question.cluster in self.deploying else "RUNNING",
            "deployments": {},
        }
        return 200, {"applications": dict.fromkeys(self._applications.get(question.host, []), running)}


@contextmanager
def dashboards() -> Iterator[Dashboards]:
    """Run them."""
    answering = Dashboards()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            url = urlsplit(self.path)
            question = Question(
                url.hostname or "", url.port, self.command, url.path, self.headers["x-ray-authorization"]
            )
            body = self.rfile.read(int(self.headers["Content-Length"] or 0))
            status, content = answering.answer(question, body)
            text = json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

        do_PUT = do_GET  # noqa: N815

        def log_message(self, format: str, *args: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answering.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield answering
        finally:
            server.shutdown()
            thread.join()
