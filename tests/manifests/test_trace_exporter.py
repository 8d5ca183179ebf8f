"""The mounted module sends spans by both protocols, as the environment says."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager

import pytest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.sampling import ALWAYS_ON

from constructs_pd.manifests.trace_exporter import span_processors
from constructs_pd.planning.observability import observability_environment
from support.otlp_receiver import OtlpReceiver, receiving_by_grpc, receiving_by_http
from support.specs import spec_with

PROTOCOLS = {
    "grpc": (receiving_by_grpc, "http://127.0.0.1:{}"),
    "http": (receiving_by_http, "http://127.0.0.1:{}/v1/traces"),
}


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_span_arrives(monkeypatch: pytest.MonkeyPatch, protocol: str) -> None:
    receiving: Callable[[], AbstractContextManager[OtlpReceiver]]
    receiving, address = PROTOCOLS[protocol]
    with receiving() as receiver:
        tracing = {"otlp_endpoint": address.format(receiver.port), "protocol": protocol}
        for name, value in observability_environment(spec_with({"tracing": tracing}), "decode").items():
            monkeypatch.setenv(name, value)
        # As Ray Serve makes it (Ray 2.58.0 serve/_private/tracing_utils.py, setup_tracing).
        provider = TracerProvider(sampler=ALWAYS_ON)
        for processor in span_processors():
            provider.add_span_processor(processor)
        provider.get_tracer("test").start_span("asked", attributes={"request_id": "one"}).end()
        provider.shutdown()
        (span,) = receiver.spans()
    assert (span.service, span.name, span.attributes) == ("qwen35-9b-decode", "asked", {"request_id": "one"})
