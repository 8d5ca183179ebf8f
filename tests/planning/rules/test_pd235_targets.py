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


def test_accepts_no_traffic_and_targets_that_are_met() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, traffic()) == []
    assert findings_of(RULE, traffic(targets={"ttft_p95_seconds": 10.0, "itl_seconds": 1.0})) == []


@pytest.mark.parametrize("field", ["ttft_p50_seconds", "ttft_p95_seconds", "itl_seconds", "itl_p95_seconds"])
def test_warns_of_each_target_that_is_missed_with_both_numbers(field: str) -> None:
    (finding,) = findings_of(RULE, traffic(targets={field: 0.001}))
    assert finding.severity is Severity.WARNING
    assert finding.subject == f"traffic.targets.{field}"
    time = "TTFT" if field.startswith("ttft") else "ITL"
    assert finding.message.endswith(f" s are predicted for 0.001 s; {time} is an order of magnitude")


def test_does_not_call_what_is_known_well_an_order_of_magnitude() -> None:
    (finding,) = findings_of(RULE, {**P5, **traffic(targets={"itl_seconds": 0.001})})
    assert finding.message.endswith(" s are predicted for 0.001 s")
    (finding,) = findings_of(RULE, {**P5, **traffic(targets={"ttft_p95_seconds": 0.001})})
    assert finding.message.endswith("; TTFT is an order of magnitude")


def test_what_is_promised_is_a_target_unless_another_is_stated() -> None:
    promised = {"monitoring": {}, "slo": {"itl_p95_seconds": 0.01}}
    (finding,) = findings_of(RULE, {**traffic(), **promised})
    assert finding.subject == "slo.itl_p95_seconds"
    assert findings_of(RULE, {**traffic(targets={"itl_seconds": 1.0}), **promised}) == []


def test_warns_of_more_than_can_be_served() -> None:
    (finding,) = findings_of(RULE, traffic(requests_per_second=1000.0))
    assert finding.subject == "traffic.requests_per_second"
    assert " of what it can at 1000 requests a second; " in finding.message
    assert finding.message.endswith(" is an order of magnitude")
