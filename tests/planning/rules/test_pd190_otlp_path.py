from __future__ import annotations

import pytest

from constructs_pd.planning.rules.pd190_otlp_path import RULE
from support.rules import findings_of

HOST = "http://collector.observability:4317"


@pytest.mark.parametrize(
    "tracing",
    [
        {"otlp_endpoint": HOST},
        {"otlp_endpoint": f"{HOST}/"},
        {"otlp_endpoint": f"{HOST}/v1/traces", "protocol": "http"},
        {"otlp_endpoint": "https://collector.example.com:443/otlp/v1/traces", "protocol": "http"},
    ],
)
def test_accepts_an_address_of_its_protocol(tracing: dict[str, str]) -> None:
    assert findings_of(RULE, {"tracing": tracing}) == []


def test_has_nothing_to_say_without_traces() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("end", ["", "/"])
def test_refuses_http_without_a_path(end: str) -> None:
    (finding,) = findings_of(RULE, {"tracing": {"otlp_endpoint": HOST + end, "protocol": "http"}})
    assert finding.subject == "tracing.otlp_endpoint"
    assert f"{HOST}{end} has 0 path segments" in finding.message
    assert "/v1/traces" in finding.remedy


def test_refuses_grpc_with_a_path() -> None:
    (finding,) = findings_of(RULE, {"tracing": {"otlp_endpoint": f"{HOST}/v1/traces"}})
    assert "has the path /v1/traces, and grpc knows none" in finding.message
