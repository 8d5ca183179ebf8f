from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.rules.pd192_observability_variables import RULE
from support.rules import findings_of

TRACING = {"otlp_endpoint": "http://collector.observability:4317"}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"head.pod.environment": {"PYTHONPATH": "/opt/own", "OTEL_SERVICE_NAME": "own"}},
        {"tracing": TRACING, "head.pod.environment": {"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test"}},
        {"logs.encoding": "json", "decode.pod.environment": {"PYTHONPATH": "/opt/own"}},
    ],
)
def test_accepts_other_variables(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_refuses_what_traces_set() -> None:
    own = {"PYTHONPATH": "/opt/own", "RAY_SERVE_TRACING_SAMPLING_RATIO": "1"}
    found = findings_of(RULE, {"tracing": TRACING, "decode.pod.environment": own})
    assert [finding.subject for finding in found] == [f"decode.pod.environment.{name}" for name in own]
    assert found[1].message == "stated twice: tracing or logs sets it to 0.010000"


def test_refuses_what_logs_set_from_a_secret_too() -> None:
    own = {"VLLM_LOGGING_CONFIG_PATH": {"secret_name": "own"}}
    (finding,) = findings_of(RULE, {"logs.encoding": "json", "prefill.pod.secret_environment": own})
    assert finding.subject == "prefill.pod.secret_environment.VLLM_LOGGING_CONFIG_PATH"
