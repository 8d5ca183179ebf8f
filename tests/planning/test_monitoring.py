"""What is decided about monitoring."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.facts import gather
from constructs_pd.planning.hand_over import hand_over_plan
from constructs_pd.planning.histograms import NIXL_TRANSFER, TTFT
from constructs_pd.planning.monitoring import monitoring_plan
from constructs_pd.planning.monitoring_plan import MonitoringPlan
from support.changes import CATALOG
from support.specs import MODEL_ROW, plan_with, spec_with

P5 = {"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"}


def monitored(changes: dict[str, Any] | None = None) -> MonitoringPlan:
    found = plan_with({"monitoring": {}, **(changes or {})}).monitoring
    assert found is not None
    return found


def test_without_it_there_is_none() -> None:
    assert plan_with().monitoring is None


def test_defaults() -> None:
    found = monitored()
    assert (found.scraping, found.labels, found.has_rules) == ("pod_monitors", {}, True)
    assert (found.runbooks, found.interval_seconds, found.metrics_port_name) == ("docs/runbooks", 15, "metrics")
    assert (found.operator_namespace, found.gpu_namespace, found.slo) == ("kuberay-system", None, None)
    assert found.replicas == {"head": 1, "prefill": 1, "decode": 1}


def test_what_is_stated_is_planned() -> None:
    found = monitored(
        {
            "monitoring": {
                "labels": {"release": "stack"},
                "rules": False,
                "dcgm_exporter": True,
            },
            "prefill.replicas": 2,
            "decode.replicas": 3,
        }
    )
    assert (found.labels, found.has_rules, found.gpu_namespace) == ({"release": "stack"}, False, "dcgm-exporter")
    assert found.replicas == {"head": 1, "prefill": 2, "decode": 3}


@pytest.mark.parametrize("url", ["https://wiki.example.com/runbooks", "https://wiki.example.com/runbooks/"])
def test_pages_of_alerts_have_one_slash_before_them(url: str) -> None:
    assert monitored({"monitoring": {"runbook_base_url": url}}).runbooks == "https://wiki.example.com/runbooks"


@pytest.mark.parametrize("changes", [{}, P5, {"decode.replicas": 3}, {"model.max_model_len": 512}])
def test_the_budget_is_that_of_the_hand_over(changes: dict[str, Any]) -> None:
    spec = spec_with({"monitoring": {}, **changes})
    hand_over, found = hand_over_plan(gather(spec, CATALOG)), monitored(changes).hand_over
    assert hand_over is not None
    assert found is not None
    assert found.longest_seconds == hand_over.paths[0].longest_seconds
    # A line through the shortest prompt and the longest.
    tokens = hand_over.longest_tokens
    assert found.bytes_per_request + found.bytes_per_token * (tokens - 1) == pytest.approx(hand_over.longest_bytes)


def test_the_links_are_those_of_all_nodes_of_the_narrower_phase() -> None:
    one, three = (monitored({"decode.replicas": count, "prefill.replicas": count}).hand_over for count in (1, 3))
    assert one is not None
    assert three is not None
    assert three.capacity_gbps == pytest.approx(3 * one.capacity_gbps)
    assert monitored({"decode.replicas": 3}).hand_over == one


def test_slow_is_a_boundary_no_shorter_than_twice_the_plan() -> None:
    found = monitored().hand_over
    assert found is not None
    assert found.slow_seconds == 0.2
    assert found.slow_seconds in NIXL_TRANSFER
    assert found.slow_seconds >= 2 * found.longest_seconds > 0.1


def test_a_promise_of_the_time_to_the_first_token_is_divided() -> None:
    slo = monitored({"slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05}}).slo
    assert slo is not None
    prefill, decode = slo.ttft
    assert (prefill.phase, prefill.seconds) == ("prefill", 1.75)
    assert (prefill.below_seconds, prefill.above_seconds) == (1.0, 2.5)
    assert (decode.phase, decode.seconds, decode.below_seconds, decode.above_seconds) == ("decode", 0.25, 0.25, 0.25)
    assert decode.seconds in TTFT
    assert prefill.share == decode.share == 0.95


def test_a_part_that_is_stated_is_taken() -> None:
    slo = monitored({"slo": {"ttft_p95_seconds": 0.3, "ttft_decode_seconds": 0.1}}).slo
    assert slo is not None
    assert [part.seconds for part in slo.ttft] == [0.2, 0.1]


def test_other_promises() -> None:
    slo = monitored({"slo": {"itl_p95_seconds": 0.06, "availability": 0.999}}).slo
    assert slo is not None
    assert (slo.ttft_seconds, slo.ttft, slo.availability) == (None, (), 0.999)
    assert slo.itl is not None
    assert (slo.itl.phase, slo.itl.below_seconds, slo.itl.above_seconds) == ("decode", 0.05, 0.075)


def test_what_is_not_reckoned_is_none() -> None:
    unknown = {"model.source": "acme/own-7b", "custom_models": [MODEL_ROW]}
    assert monitored(unknown).hand_over is None
    assert monitoring_plan(gather(spec_with(unknown), CATALOG)) is None


@pytest.mark.parametrize(
    ("source", "prefill", "decode", "reads", "is_answered"),
    [
        ("Qwen/Qwen3.5-9B", 4, 4, 1, True),
        ("openai/gpt-oss-20b", 8, 4, 2, True),
        ("Qwen/Qwen3-8B", 1, 8, 1, False),
        ("Qwen/Qwen3-8B", 8, 2, 4, False),
        ("deepseek-ai/DeepSeek-R1", 8, 4, 1, False),
        ("deepseek-ai/DeepSeek-V3.2", 8, 8, 1, True),
    ],
)
def test_what_a_failed_transfer_means_is_the_models(
    source: str, prefill: int, decode: int, reads: int, is_answered: bool
) -> None:
    phases = {
        name: {"instance_type": "p5en.48xlarge", "tensor_parallel": size}
        for name, size in (("prefill", prefill), ("decode", decode))
    }
    facts = gather(spec_with({"model": {"source": source}, "monitoring": {}, **phases}), CATALOG)
    found = monitoring_plan(facts)
    assert found is not None
    assert (found.reads_of_gpu, found.answers_failed_transfers) == (reads, is_answered)


def test_of_a_model_whose_layers_nobody_knows_the_worse_is_taken() -> None:
    own = {"model": {"source": MODEL_ROW["model"], "max_model_len": 1024}, "custom_models": [MODEL_ROW]}
    found = monitoring_plan(gather(spec_with({**own, "monitoring": {}}), CATALOG))
    assert found is not None
    assert found.answers_failed_transfers
