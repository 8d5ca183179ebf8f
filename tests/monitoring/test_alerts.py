"""Each alert fires when it should and is quiet when it should not: promtool evaluates the rules on synthetic series."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.monitoring.rules import rule_file, rule_groups
from monitoring.conftest import MONITORED
from support.alert_cases import CASES, MINUTES, NO_TRANSFERS, Case, engine, growing, well
from support.specs import plan_with

#: A model of which a failed transfer is a failed request; of the reference deployment's it is a wrong answer.
PLAIN: dict[str, Any] = {"model": {"source": "Qwen/Qwen3-8B", "max_model_len": 1024}}
#: Each of decode's two GPUs reads from two of prefill's four.
FOUR_TRANSFERS: dict[str, Any] = {
    "monitoring": {},
    **PLAIN,
    "prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": 4},
    "decode": {"instance_type": "p5.48xlarge", "tensor_parallel": 2},
}


def promtool_test(
    promtool: Path, folder: Path, plan: DeploymentPlan, series: dict[str, str], expected: list[dict[str, Any]]
) -> str:
    """Return what promtool says against a test, nothing if it holds."""
    assert plan.monitoring is not None
    (folder / "rules.yaml").write_text(rule_file(plan, plan.monitoring), encoding="utf-8")
    test = {
        "rule_files": ["rules.yaml"],
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [{"series": name, "values": values} for name, values in series.items()],
                "promql_expr_test": expected,
            }
        ],
    }
    (folder / "test.yaml").write_text(yaml.safe_dump(test), encoding="utf-8")
    done = subprocess.run(
        [promtool, "test", "rules", "test.yaml"], cwd=folder, capture_output=True, text=True, check=False
    )
    return "" if done.returncode == 0 else done.stdout + done.stderr


def firing(case: Case) -> list[dict[str, Any]]:
    """Return the expectation that an alert fires with these severities and phases, and no others."""
    expression = f'count by (severity, phase) (ALERTS{{alertname="{case.alert}",alertstate="firing"}})'
    samples = []
    for each in sorted(case.fires):
        severity, phase = each.split()
        labels = f'severity="{severity}"' if phase == "-" else f'severity="{severity}",phase="{phase}"'
        samples.append({"labels": f"{{{labels}}}", "value": 1})
    return [{"expr": expression, "eval_time": f"{case.end}m", "exp_samples": samples}]


@pytest.fixture(scope="session")
def plain_plan() -> DeploymentPlan:
    return plan_with({**MONITORED, **PLAIN})


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_it_fires_when_it_should(
    case: Case, promtool: Path, tmp_path: Path, plan: DeploymentPlan, plain_plan: DeploymentPlan
) -> None:
    series = case.input()
    assert promtool_test(promtool, tmp_path, plain_plan if case.is_plain else plan, series, firing(case)) == ""


# Two of decode's GPUs with two reads each for each of 60 requests in a minute: 4 are 3 % of 120, and 12 are 9 %.
@pytest.mark.parametrize(("failed_each_minute", "is_critical"), [(4, False), (12, True)])
def test_each_transfer_of_a_request_counts(
    failed_each_minute: float, is_critical: bool, promtool: Path, tmp_path: Path
) -> None:
    transfers = engine("decode", "nixl_xfer_time_seconds_count")
    failed = engine("decode", "nixl_num_failed_transfers_total")
    case = Case(
        "HandOverFails",
        "on four GPUs",
        {transfers: growing(240), failed: growing(failed_each_minute)},
        frozenset({"warning -", *(["critical decode"] if is_critical else [])}),
    )
    assert promtool_test(promtool, tmp_path, plan_with(FOUR_TRANSFERS), case.input(), firing(case)) == ""


@pytest.mark.parametrize(("prefill", "decode"), [(8, 1), (8, 2), (1, 8)])
def test_a_handshake_that_fails_counts_once_for_each_of_decodes_gpus(
    prefill: int, decode: int, promtool: Path, tmp_path: Path
) -> None:
    # All of 12 requests in a minute, before any read.
    failed = {engine("decode", "nixl_num_failed_transfers_total"): growing(12 * decode)}
    case = Case(
        "HandOverFails", "no handshake", {**NO_TRANSFERS, **failed}, frozenset({"critical decode", "warning -"})
    )
    phases = {
        name: {"instance_type": "p5.48xlarge", "tensor_parallel": size}
        for name, size in (("prefill", prefill), ("decode", decode))
    }
    unequal = plan_with({"monitoring": {}, **PLAIN, **phases})
    assert promtool_test(promtool, tmp_path, unequal, case.input(), firing(case)) == ""


def test_hand_overs_are_counted_by_requests_whichever_phase_has_more_gpus(promtool: Path, tmp_path: Path) -> None:
    # A second of all four transfers of a request, posted at once, is a quarter of a second of waiting.
    series = {
        **well(),
        engine("decode", "nixl_xfer_time_seconds_count"): growing(240),
        engine("decode", "nixl_xfer_time_seconds_sum"): growing(60),
    }
    of_decode = 'namespace="inference",ray_service="qwen35-9b",phase="decode"'
    handed, part = "phase:hand_overs_per_second:rate5m", "phase:ttft_part_seconds:mean5m"
    expected = [
        {"expr": handed, "eval_time": "30m", "exp_samples": [{"labels": f"{handed}{{{of_decode}}}", "value": 1}]},
        {
            "expr": f'{part}{{part="transfer"}}',
            "eval_time": "30m",
            "exp_samples": [{"labels": f'{part}{{{of_decode},part="transfer"}}', "value": 0.25}],
        },
    ]
    assert promtool_test(promtool, tmp_path, plan_with(FOUR_TRANSFERS), series, expected) == ""


def test_where_all_is_well_nothing_fires(promtool: Path, tmp_path: Path, plan: DeploymentPlan) -> None:
    nothing = [{"expr": "ALERTS", "eval_time": f"{minute}m", "exp_samples": []} for minute in (20, 60, MINUTES)]
    assert promtool_test(promtool, tmp_path, plan, well(), nothing) == ""


def test_each_alert_has_a_case_that_fires_and_one_that_is_quiet(plan: DeploymentPlan) -> None:
    assert plan.monitoring is not None
    rules = [rule for group in rule_groups(plan, plan.monitoring) for rule in group["rules"] if "alert" in rule]
    expected = {(rule["alert"], rule["labels"]["severity"]) for rule in rules}
    assert len(expected) == 24
    fired = {(case.alert, each.split()[0]) for case in CASES for each in case.fires}
    assert fired == expected
    assert {case.alert for case in CASES if not case.fires} == {alert for alert, _ in expected}
