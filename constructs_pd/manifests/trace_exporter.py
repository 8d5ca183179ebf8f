"""Takes Ray Serve's spans to a collector. Mounted into the Ray pods, where nothing else of this package is.

Ray Serve 2.58.0 calls the function in each of its processes, without arguments (serve/_private/tracing_utils.py).
OpenTelemetry's variables, which vLLM reads too, say where the collector is.
"""

import os

from opentelemetry.sdk.trace import SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter


def span_processors() -> list[SpanProcessor]:
    """Return what sends spans, a batch at a time, in the background."""
    return [BatchSpanProcessor(_exporter())]


def _exporter() -> SpanExporter:
    # Each exporter imports much, and one is used.
    if os.environ["OTEL_EXPORTER_OTLP_TRACES_PROTOCOL"] == "grpc":
        from opentelemetry.exporter.otlp.proto.grpc.trace_exporter import OTLPSpanExporter as GrpcExporter

        return GrpcExporter()
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter as HttpExporter

    return HttpExporter()
