"""Traces and logs: what the pods' environment and the engines are told.

Ray Serve 2.58.0 hands its spans to a function that RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH names; the one that Ray
brings writes files (serve/_private/tracing_utils.py), so a module of this library's is mounted into the pods. In a
replica Serve's tracer provider is there first and stays: vLLM's spans leave by the same way (opentelemetry-api,
set_tracer_provider). The processes that vLLM starts make their own from OpenTelemetry's variables (vLLM 0.26.0
tracing/otel.py).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from constructs_pd.planning.observability_plan import ObservabilityPlan

if TYPE_CHECKING:
    from constructs_pd.planning.spec import DeploymentSpec

FOLDER: Final = "/etc/constructs-pd/observability"
EXPORTER_MODULE: Final = "constructs_pd_traces"
EXPORTER_FUNCTION: Final = "span_processors"
VLLM_LOGGING_FILE: Final = "vllm_logging.json"
# OpenTelemetry specification, OTLP exporter, OTEL_EXPORTER_OTLP_PROTOCOL.
_PROTOCOLS: Final = {"grpc": "grpc", "http": "http/protobuf"}
_MILLION: Final = 1_000_000


def observability_plan(spec: DeploymentSpec) -> ObservabilityPlan:
    """Return what is decided of traces and logs."""
    tracing, is_json = spec.tracing, spec.logs.encoding == "json"
    return ObservabilityPlan(
        otlp_endpoint=None if tracing is None else tracing.otlp_endpoint,
        serve_encoding="JSON" if is_json else None,
        files_name=f"{spec.name}-observability" if tracing is not None or is_json else None,
        folder=FOLDER,
    )


def observability_environment(spec: DeploymentSpec, role: str) -> dict[str, str]:
    """Return the variables of the Ray pods of a role: the head's, prefill's or decode's."""
    logs = {"VLLM_LOGGING_CONFIG_PATH": f"{FOLDER}/{VLLM_LOGGING_FILE}"} if spec.logs.encoding == "json" else {}
    return {**_of_traces(spec, role), **logs}


def engine_arguments(spec: DeploymentSpec) -> dict[str, str | bool]:
    """Return what both engines are told."""
    arguments: dict[str, str | bool] = {}
    if spec.tracing is not None:
        arguments["otlp_traces_endpoint"] = spec.tracing.otlp_endpoint
    if spec.logs.requests:
        arguments["enable_log_requests"] = True
    return arguments


def sampled_per_million(spec: DeploymentSpec) -> int | None:
    """Return of how many requests in a million the gateway has a trace made, or none where there are no traces."""
    return None if spec.tracing is None else round(spec.tracing.sample_ratio * _MILLION)


def port_of(otlp_endpoint: str) -> int:
    """Return the port of a collector."""
    port = urlsplit(otlp_endpoint).port
    assert port is not None  # the type of the field asks for it
    return port


def is_loopback(otlp_endpoint: str) -> bool:
    """Return whether an address leads back to whoever asks."""
    host = urlsplit(otlp_endpoint).hostname or ""
    return host == "localhost" or host.startswith("127.")


def _of_traces(spec: DeploymentSpec, role: str) -> dict[str, str]:
    tracing = spec.tracing
    if tracing is None:
        return {}
    # Where the gateway decides, Ray only follows: else it would begin a trace in the middle of some requests that were
    # not chosen, at each step anew (Ray 2.58.0 serve/_private/router.py, assign_request).
    ratio = "0" if spec.endpoint.gateway is not None else f"{tracing.sample_ratio:.6f}"
    return {
        "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": tracing.otlp_endpoint,
        "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL": _PROTOCOLS[tracing.protocol],
        "OTEL_SERVICE_NAME": f"{spec.name}-{role}",
        "OTEL_TRACES_SAMPLER": "parentbased_traceidratio",
        "OTEL_TRACES_SAMPLER_ARG": ratio,
        "PYTHONPATH": FOLDER,
        "RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH": f"{EXPORTER_MODULE}:{EXPORTER_FUNCTION}",
        "RAY_SERVE_TRACING_SAMPLING_RATIO": ratio,
    }
