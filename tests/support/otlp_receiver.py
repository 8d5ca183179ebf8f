"""A collector of spans on 127.0.0.1, by gRPC or by HTTP."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from gzip import decompress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import grpc
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import (
    ExportTraceServiceRequest,
    ExportTraceServiceResponse,
)
from opentelemetry.proto.collector.trace.v1.trace_service_pb2_grpc import (
    TraceServiceServicer,
    add_TraceServiceServicer_to_server,
)


@dataclass(frozen=True)
class ReceivedSpan:
    """A span, with the service that sent it."""

    service: str
    name: str
    trace: str
    span: str
    parent: str
    attributes: dict[str, Any]


@dataclass
class OtlpReceiver:
    """What has arrived."""

    port: int = 0
    _requests: list[ExportTraceServiceRequest] = field(default_factory=list)

    def keep(self, request: ExportTraceServiceRequest) -> None:
        """Keep a batch."""
        self._requests.append(request)

    def spans(self, trace: str | None = None) -> list[ReceivedSpan]:
        """Return the spans of a trace, or all."""
        found = [
            ReceivedSpan(
                str(_plain(sent.resource.attributes).get("service.name")),
                span.name,
                span.trace_id.hex(),
                span.span_id.hex(),
                span.parent_span_id.hex(),
                _plain(span.attributes),
            )
            for request in list(self._requests)
            for sent in request.resource_spans
            for scope in sent.scope_spans
            for span in scope.spans
        ]
        return [span for span in found if trace in (None, span.trace)]


def _plain(attributes: Any) -> dict[str, Any]:
    return {each.key: getattr(each.value, str(each.value.WhichOneof("value"))) for each in attributes}


@contextmanager
def receiving_by_grpc() -> Iterator[OtlpReceiver]:
    """Run a collector that is asked by gRPC."""
    receiver = OtlpReceiver()

    class Service(TraceServiceServicer):
        def Export(self, request: ExportTraceServiceRequest, context: Any) -> ExportTraceServiceResponse:  # noqa: N802
            receiver.keep(request)
            return ExportTraceServiceResponse()

    server = grpc.server(ThreadPoolExecutor(2))
    add_TraceServiceServicer_to_server(Service(), server)  # type: ignore[no-untyped-call]
    receiver.port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    try:
        yield receiver
    finally:
        server.stop(None)


@contextmanager
def receiving_by_http() -> Iterator[OtlpReceiver]:
    """Run a collector that is asked by HTTP at /v1/traces."""
    receiver = OtlpReceiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            if self.headers.get("Content-Encoding") == "gzip":
                body = decompress(body)
            if self.path == "/v1/traces":
                receiver.keep(ExportTraceServiceRequest.FromString(body))
            self.send_response(200 if self.path == "/v1/traces" else 404)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *arguments: Any) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.port = server.server_port
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield receiver
        finally:
            server.shutdown()
