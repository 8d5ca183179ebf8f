from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd235_targets import RULE
from support.rules import findings_of

NODE = {"instance_type": "p5.48xlarge"}
P5 = {"model": {"source": "Qwen/Qwen3-32B", "max_model_len": 8192}, "prefill": NODE, "decode": NODE}
TRAFFIC = {"requests_per_second": 0.01, "prompt_tokens": 200, "output_tokens": 50}


def traffic(**fields: Any) -> dict[str, Any]:
    return {"traffic": {**TRAFFIC, **fields}}


def promised(**fields: float) -> dict[str, Any]:
    return {"monitoring": {}, "slo": fields}


def test_accepts_no_traffic_and_promises_that_are_kept() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, traffic()) == []
    assert findings_of(RULE, {**traffic(), **promised(ttft_p95_seconds=10.0, itl_p95_seconds=1.0)}) == []
    assert findings_of(RULE, {**traffic(), **promised(availability=0.999)}) == []
    assert findings_of(RULE, promised(itl_p95_seconds=0.01)) == []


@pytest.mark.parametrize(("field", "time"), [("ttft_p95_seconds", "TTFT"), ("itl_p95_seconds", "ITL")])
def test_warns_of_each_promise_that_is_broken_with_both_numbers(field: str, time: str) -> None:
    (finding,) = findings_of(RULE, {**traffic(), **promised(**{field: 0.01})})
    assert finding.severity is Severity.WARNING
    assert finding.subject == f"slo.{field}"
    assert finding.message.endswith(f" s are predicted for 0.01 s; {time} is an order of magnitude")


def test_does_not_call_what_is_known_well_an_order_of_magnitude() -> None:
    busy = {**P5, **traffic(requests_per_second=50.0, output_tokens=300)}
    (finding,) = findings_of(RULE, {**busy, **promised(itl_p95_seconds=0.01)})
    assert finding.message.endswith(" s are predicted for 0.01 s")
    (finding,) = findings_of(RULE, {**P5, **traffic(), **promised(ttft_p95_seconds=0.01)})
    assert finding.message.endswith("; TTFT is an order of magnitude")


def test_warns_of_more_than_can_be_served() -> None:
    (finding,) = findings_of(RULE, traffic(requests_per_second=1000.0))
    assert finding.subject == "traffic.requests_per_second"
    assert " of what it can at 1000 requests a second; " in finding.message
    assert finding.message.endswith(" is an order of magnitude")
