from typing import Any

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd232_worth_it import RULE
from constructs_pd.planning.rules.pd235_targets import RULE as TARGETS
from support.rules import findings_of

# Larger blocks are fewer reads of the hand-over, for which decode stands still.
NODE = {"instance_type": "p5.48xlarge", "engine_args": {"block_size": 128}}
P5 = {"model": {"source": "Qwen/Qwen3-32B", "max_model_len": 8192}, "prefill": NODE, "decode": NODE}


def traffic(**fields: Any) -> dict[str, Any]:
    return {**P5, "traffic": {"requests_per_second": 1.0, "prompt_tokens": 4000, "output_tokens": 500, **fields}}


def test_says_nothing_without_the_answers_length() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {**P5, "traffic": {"requests_per_second": 1.0, "prompt_tokens": 4000}}) == []


def test_accepts_promises_that_the_phases_apart_keep_better() -> None:
    promised = {"monitoring": {}, "slo": {"itl_p95_seconds": 0.01}}
    assert findings_of(RULE, {**traffic(output_tokens=50), **promised}) == []


def test_warns_where_the_same_gpus_together_serve_more() -> None:
    promised = {"monitoring": {}, "slo": {"ttft_p95_seconds": 1.0, "itl_p95_seconds": 0.02}}
    (finding,) = findings_of(RULE, {**traffic(), **promised})
    assert finding.severity is Severity.WARNING
    assert finding.subject == "traffic"
    assert finding.message.startswith("as predicted the phases apart serve ")
    apart, together = (float(word.strip(",;")) for word in finding.message.split() if word.strip(",;")[0].isdigit())
    assert apart < together
    assert finding.message.endswith("; TTFT is an order of magnitude")
    assert "`constructs-pd size`" in finding.remedy


def test_leaves_it_to_the_targets_where_neither_way_meets_them() -> None:
    changes = {
        "model": {"source": "Qwen/Qwen3-32B", "max_model_len": 8192},
        "prefill": NODE,
        "decode": NODE,
        "traffic": {"requests_per_second": 1.0, "prompt_tokens": 4000, "output_tokens": 500},
        "monitoring": {},
        "slo": {"ttft_p95_seconds": 0.06, "ttft_decode_seconds": 0.05},
    }
    assert findings_of(RULE, changes) == []
    assert [finding.subject for finding in findings_of(TARGETS, changes)] == ["slo.ttft_p95_seconds"]


def test_warns_where_both_times_are_longer() -> None:
    (finding,) = findings_of(RULE, traffic(prompt_tokens=50, output_tokens=2, requests_per_second=0.01))
    assert "the first token comes after" in finding.message
    assert finding.message.endswith("; TTFT is an order of magnitude")


def test_says_of_a_gpu_that_nobody_measured_that_both_times_are_orders_of_magnitude() -> None:
    changes = {"traffic": {"requests_per_second": 0.01, "prompt_tokens": 50, "output_tokens": 2}}
    (finding,) = findings_of(RULE, changes)
    assert finding.message.endswith("; TTFT and ITL are orders of magnitude")


def test_leaves_what_is_not_known_to_its_own_rule() -> None:
    assert findings_of(RULE, {**traffic(), "model": {"source": "a/b"}}) == []
