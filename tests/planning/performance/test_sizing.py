"""How many nodes a workload takes, what they cost, and what is written of it."""

from __future__ import annotations

from dataclasses import asdict
from math import isfinite
from typing import Any

import pytest

from constructs_pd import PlanError, plan
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.cost import cost, quota_needs
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.sizing import Sizing, size
from support.workloads import workload_with

CATALOG = load_catalog()
# So much time for the first token that a hand-over without GPUDirect fits into it.
SLOW_FIRST = {"ttft_p95_seconds": 20.0, "itl_p95_seconds": 0.012}


@pytest.fixture(scope="module")
def example() -> Sizing:
    return size(workload_with())


def test_the_cheapest_comes_first_and_every_one_meets_the_targets(example: Sizing) -> None:
    costs = [option.cost.per_hour for option in example.options if option.cost]
    assert costs == sorted(costs)
    assert len(costs) == 4
    for option in example.options:
        assert option.latency.ttft_p95 <= 1.0
        assert option.latency.itl_p95 <= 0.02
        assert 40 <= option.most_rate <= option.full_rate


def test_one_node_less_of_either_phase_is_not_enough(example: Sizing) -> None:
    best = example.options[0]
    workload = example.workload
    for phases in ((best.prefill[1] - 1, best.decode[1]), (best.prefill[1], best.decode[1] - 1)):
        less = workload.deployment((best.prefill[0], phases[0]), (best.decode[0], phases[1]))
        codes = {finding.code for finding in plan(less).findings}
        assert "PD235" in codes


def test_the_cost_is_nodes_times_price_over_tokens(example: Sizing) -> None:
    best = example.options[0]
    nodes = best.prefill[1] + best.decode[1]
    assert best.cost is not None
    assert (best.prefill[0], best.decode[0]) == ("p5.48xlarge", "p5.48xlarge")
    assert best.cost.per_hour == pytest.approx(55.0 * nodes)
    assert best.cost.per_million_outputs == pytest.approx(55.0 * nodes / (40 * 300 * 3600 / 1e6))
    served = Requests(4000, 0, 300, 0.3).within(8192).mean_factor * 4000  # what does not fit is cut
    assert 3980 < served < 4000
    assert best.cost.per_million_tokens == pytest.approx(55.0 * nodes / (40 * (served + 300) * 3600 / 1e6))
    assert best.gpus == 8 * nodes
    (need,) = best.quotas
    assert (need.quota.code, need.vcpus) == ("L-417A185B", 192 * nodes)


def test_what_is_written_plans_without_errors_and_warns_of_nothing_about_its_speed(example: Sizing) -> None:
    for option in example.options:
        planned = plan(example.workload.deployment(option.prefill, option.decode))
        may_be = set() if option is example.options[0] else {"PD218", "PD232", "PD233"}
        assert {finding.code for finding in planned.findings} <= {"PD115", *may_be}
    assert (planned.prefill.replicas, planned.decode.replicas) == (option.prefill[1], option.decode[1])
    assert planned.prefill.engine_arguments["block_size"] == 256


def test_the_curve_reaches_from_nothing_to_where_both_are_full(example: Sizing) -> None:
    rates = [point.rate for point in example.curve]
    assert rates == sorted(rates)
    assert len(rates) == 32
    assert rates[0] < 5
    first, last = example.curve[0], example.curve[-1]
    assert not first.apart.is_saturated
    assert not first.together.is_saturated
    assert last.apart.is_saturated
    assert last.together.is_saturated
    times = [point.apart.itl_mean for point in example.curve if not point.apart.is_saturated]
    assert times == sorted(times)


def test_the_advice_is_of_the_same_nodes(example: Sizing) -> None:
    assert example.advice.verdict == "marginal"
    assert example.advice.apart == example.options[0].latency
    assert example.advice.most_apart == pytest.approx(example.options[0].most_rate)
    assert any("pipeline parallelism is refused" in reason for reason in example.advice.reasons)


def test_every_number_of_an_option_has_an_end(example: Sizing) -> None:
    def numbers(value: Any) -> list[float]:
        if isinstance(value, dict):
            return [number for each in value.values() for number in numbers(each)]
        if isinstance(value, list | tuple):
            return [number for each in value for number in numbers(each)]
        return [value] if isinstance(value, float) else []

    found = numbers([asdict(option) for option in example.options])
    assert len(found) > 40
    assert all(map(isfinite, found))


def test_without_prices_the_fewest_gpus_come_first() -> None:
    found = size(workload_with({"prices_per_hour": {}, "instance_types": ["p5en.48xlarge", "p5.48xlarge"]}))
    assert all(option.cost is None for option in found.options)
    assert found.together is not None
    assert found.together.cost is None
    gpus = [option.gpus for option in found.options]
    assert gpus == sorted(gpus)


def test_without_targets_nothing_is_busier_than_four_fifths() -> None:
    found = size(workload_with({"slo": None, "instance_types": ["p5.48xlarge"]}))
    assert found.options[0].latency.utilization <= 0.8


def test_without_a_promise_of_the_first_token_it_does_not_wait_without_end() -> None:
    changes = {
        "model.max_model_len": 32768,
        "traffic": {"requests_per_second": 3.0, "prompt_tokens": 300, "output_tokens": 20000},
        "instance_types": ["p5.48xlarge"],
        "slo": {"itl_p95_seconds": 0.04},
    }
    found = size(workload_with(changes))
    assert found.together is not None
    assert max(found.options[0].latency.utilization, found.together.latency.utilization) <= 0.8
    assert max(found.options[0].latency.ttft_p95, found.together.latency.ttft_p95) < 0.1


def test_one_node_less_would_hand_over_too_much() -> None:
    changes = {"model.source": "Qwen/Qwen3-8B", "block_tokens": None, "instance_types": ["p5.48xlarge"], "slo": None}
    found = size(workload_with({**changes, "traffic.requests_per_second": 200.0}))
    best, codes = found.options[0], []
    for fewer in (0, 1):
        decode = best.decode[0], best.decode[1] - fewer
        codes.append({each.code for each in plan(found.workload.deployment(best.prefill, decode)).findings})
    assert ["PD227" in each for each in codes] == [False, True]


def test_what_more_nodes_do_not_mend_comes_last_and_is_said() -> None:
    changes = {
        "model.source": "Qwen/Qwen3-8B",
        "instance_types": ["g5.8xlarge", "g6.8xlarge"],
        "prices_per_hour": {"g5.8xlarge": 0.1, "g6.8xlarge": 2.0},
        "traffic": {"requests_per_second": 1.0, "prompt_tokens": 500, "output_tokens": 100},
        "slo": None,
    }
    options = size(workload_with(changes)).options
    assert len(options) == 4
    assert (options[0].prefill[0], options[0].decode[0], options[0].warnings) == ("g6.8xlarge", "g6.8xlarge", ())
    for option in options[1:]:
        assert {warning.code for warning in option.warnings} == {"PD228"}
    assert options[0].cost
    assert options[1].cost
    assert options[1].cost.per_hour < options[0].cost.per_hour


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        (
            {"model.source": "Qwen/Qwen3-30B-A3B-FP8", "instance_types": ["p5.48xlarge"]},
            "consider other instance types, or in a specification of your own state decode.tensor_parallel: 2",
        ),
        (
            {"model.source": "Qwen/Qwen3-235B-A22B", "instance_types": ["g6.8xlarge"], "slo": None},
            "choose p4de.24xlarge in decode",
        ),
        (
            {"instance_types": ["g7.48xlarge"], "model.source": "Qwen/Qwen3-8B", "slo": None},
            "consider other instance types, or measure a deployment itself",
        ),
        ({"traffic.requests_per_second": 1e6}, "consider other instance types, promise less, or raise most_nodes"),
    ],
)
def test_what_cannot_be_served_says_what_helps(changes: dict[str, Any], remedy: str) -> None:
    with pytest.raises(PlanError) as caught:
        size(workload_with(changes))
    assert caught.value.findings[0].remedy.startswith(remedy)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        (
            {"instance_types": ["g6e.48xlarge"], "slo": SLOW_FIRST},
            "with 64 nodes of each phase itl_p95_seconds is 0.0",
        ),
        (
            {"slo": {"ttft_p95_seconds": 0.06, "ttft_decode_seconds": 0.05}},
            "with 64 nodes of each phase ttft_p95_seconds is 0.",
        ),
        (
            {
                "model.source": "Qwen/Qwen3-8B",
                "block_tokens": None,
                "traffic.requests_per_second": 200.0,
                "most_nodes": 7,
            },
            "of its time, and 25% is much: raise block_tokens",
        ),
        (
            {"slo": {"itl_p95_seconds": 0.05}, "most_nodes": 4, "instance_types": ["p5.48xlarge"]},
            "with 4 nodes of each phase prefill is busy for 85% of its time, and 80% is much",
        ),
        ({"traffic.requests_per_second": 1e6}, "64 nodes of each phase cannot serve 1,000,000 requests a second"),
        ({"instance_types": ["g7.48xlarge"], "model.source": "Qwen/Qwen3-8B", "slo": None}, "RTX PRO 4500"),
        ({"model.source": "deepseek-ai/DeepSeek-V3", "instance_types": ["p5.48xlarge"]}, "PD203 "),
    ],
)
def test_what_cannot_be_served_says_why(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(PlanError) as caught:
        size(workload_with(changes))
    assert {finding.code for finding in caught.value.findings} == {"PD007"}
    assert reason in str(caught.value)


def test_a_promise_that_cannot_be_divided_is_a_mistake_of_its_own() -> None:
    with pytest.raises(PlanError) as caught:
        size(workload_with({"slo": {"ttft_p95_seconds": 0.04}}))
    assert [(finding.code, finding.subject) for finding in caught.value.findings] == [("PD183", "slo.ttft_p95_seconds")]


def test_what_is_promised_is_written_and_measured(example: Sizing) -> None:
    assert example.specification["slo"] == {"ttft_p95_seconds": 1.0, "itl_p95_seconds": 0.02}
    assert example.specification["monitoring"] == {}
    none = size(workload_with({"slo": None, "instance_types": ["p5.48xlarge"]})).specification
    assert not {"slo", "monitoring"} & none.keys()


def test_what_one_instance_type_cannot_serve_another_does() -> None:
    found = size(workload_with({"instance_types": ["p5.48xlarge", "g6e.48xlarge"], "slo": SLOW_FIRST}))
    assert {option.decode[0] for option in found.options} == {"p5.48xlarge"}
    assert any(reason.startswith("g6e.48xlarge: with 64 nodes of each phase") for reason in found.rejected)


def test_a_gated_model_and_rows_of_the_users_own_go_into_the_specification() -> None:
    row = CATALOG.instances["p5.48xlarge"].model_dump(mode="json") | {"instance_type": "own.48xlarge"}
    changes = {
        "model.source": "meta-llama/Meta-Llama-3.1-70B",
        "hugging_face_token": {"secret_name": "hugging-face", "key": "token"},
        "custom_instances": [row],
        "instance_types": ["own.48xlarge"],
        "slo": {"itl_p95_seconds": 0.05},
    }
    found = size(workload_with(changes))
    assert found.specification["custom_instances"] == [row]
    assert found.specification["hugging_face_token"] == {"secret_name": "hugging-face", "key": "token"}
    assert found.options[0].quotas == ()
    plan(found.workload.deployment(found.options[0].prefill, found.options[0].decode))


def test_prompts_that_a_cache_holds_take_fewer_nodes_of_prefill() -> None:
    changes = {"instance_types": ["p5.48xlarge"]}
    plain = size(workload_with(changes)).options[0]
    cached = size(workload_with({**changes, "traffic.cached_prompt_fraction": 0.75})).options[0]
    assert cached.prefill[1] < plain.prefill[1]


def test_cost_and_quotas_by_hand() -> None:
    found = cost(36.0, 10.0, 900.0, 100.0)
    assert (found.per_hour, found.per_million_outputs, found.per_million_tokens) == (36.0, 10.0, 1.0)
    nodes = [(CATALOG.instances[name], number) for name, number in (("g6.8xlarge", 2), ("p5.48xlarge", 1))]
    assert [(need.quota.code, need.vcpus) for need in quota_needs(CATALOG, nodes)] == [
        ("L-DB2E81BA", 64),
        ("L-417A185B", 192),
    ]


def test_nodes_that_the_planner_refuses_serve_nothing_together_either() -> None:
    # The zone does not offer the cheaper ones.
    prices = {"p5.48xlarge": 55.0, "p5en.48xlarge": 1.0}
    found = size(workload_with({"availability_zone": "usw2-az1", "prices_per_hour": prices}))
    assert found.together is not None
    assert found.together.instance_type == "p5.48xlarge"
