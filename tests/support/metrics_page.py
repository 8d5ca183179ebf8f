"""A Prometheus page beside a stub of an endpoint."""

from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

from support.openai_stub import Stub, served

RAY = 'ray_vllm_nixl_bytes_transferred_sum{ReplicaId="a",model_name="stub"} '
VLLM = "vllm:nixl_bytes_transferred_sum "


@contextmanager
def pages(
    stub: Stub,
    name: str,
    bytes_of_request: float,
    status: int = 200,
    hosts: list[str] | None = None,
    certificate: ssl.SSLContext | None = None,
) -> Iterator[str]:
    """Serve a Prometheus page on which the bytes grow with a stub's requests; `hosts` is told who was asked for."""

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if hosts is not None:
                hosts.append(self.headers["Host"])
            text = f"# HELP x\n{name}{stub.requests * bytes_of_request:e}\n{name[:-1]}x 7\nother_sum 5\n"
            self.send_response(status)
            self.end_headers()
            self.wfile.write(text.encode())

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    with served(Page, certificate) as address:
        yield f"{address}/metrics"
