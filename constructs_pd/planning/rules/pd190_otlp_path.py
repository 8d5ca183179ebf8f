"""PD190: the collector's address is one of its protocol."""

from collections.abc import Iterator
from urllib.parse import urlsplit

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for HTTP without a path, and for gRPC with one."""
    tracing = facts.spec.tracing
    if tracing is None:
        return
    path = urlsplit(tracing.otlp_endpoint).path
    if tracing.protocol == "http" and path in ("", "/"):
        yield Violation(
            "tracing.otlp_endpoint",
            f"{tracing.otlp_endpoint} has 0 path segments, and by http spans are sent to just this address",
            "append /v1/traces, or the path that your collector documents",
        )
    if tracing.protocol == "grpc" and path not in ("", "/"):
        yield Violation(
            "tracing.otlp_endpoint",
            f"{tracing.otlp_endpoint} has the path {path}, and grpc knows none",
            "state protocol: http, or leave the path out",
        )


RULE = Rule(
    code="PD190",
    severity=Severity.ERROR,
    title="The collector's address is one of its protocol",
    rationale="The collector answers 404 or not at all, and every span is lost; requests go on.",
    source="OpenTelemetry specification, OTLP exporter configuration; opentelemetry-exporter-otlp 1.45.2",
    check=check,
)
