"""PD194: the spans of both engines belong to their request's trace."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for traces that nobody begins before Ray."""
    if facts.spec.tracing is not None and facts.spec.endpoint.gateway is None:
        yield Violation(
            "tracing",
            "0 gateways begin a trace: a request without traceparent of its client's makes 3, one of Ray Serve and one "
            "of each engine",
            "state endpoint.gateway, which begins one; or have every client send traceparent",
        )


RULE = Rule(
    code="PD194",
    severity=Severity.WARNING,
    title="The spans of both engines belong to their request's trace",
    rationale="vLLM reads the trace from the client's headers alone. Without it prefill and decode are found by the "
    "request's id only, and each is chosen by chance for itself.",
    source="vLLM 0.26.0 generate/base/serving.py; Ray 2.58.0 llm/_internal/serve/core/protocol.py, RawRequestInfo",
    check=check,
)
