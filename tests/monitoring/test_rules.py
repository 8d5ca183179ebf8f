"""The rules as Prometheus reads them."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.monitoring.burn_rates import BURN_RATES, LEAST_REQUESTS, WINDOWS, slow_share
from constructs_pd.manifests.monitoring.promql import Scope, bucket, events
from constructs_pd.manifests.monitoring.rules import rule_file, rule_groups
from constructs_pd.planning.histograms import TTFT, around, at_least
from constructs_pd.planning.monitoring_plan import LatencyObjective
from support.specs import VARIANTS, plan_with

PROMISES = {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05, "availability": 0.99}
VARIATIONS: dict[str, dict[str, Any]] = {
    "nothing promised": {},
    "everything": {"slo": PROMISES, "monitoring": {"dcgm_exporter": True}},
    "a boundary": {"slo": {"ttft_p95_seconds": 2.75, "ttft_decode_seconds": 0.25}},
    "below the first boundary": {"slo": {"ttft_p95_seconds": 0.1, "ttft_decode_seconds": 0.099}},
    "availability alone": {"slo": {"availability": 0.99999}},
    "by annotations": {"slo": PROMISES, "monitoring": {"scraping": "annotations"}},
    "many replicas": {"prefill.replicas": 3, "decode.replicas": 2, "slo": PROMISES},
}


@pytest.mark.parametrize("changes", VARIATIONS.values(), ids=VARIATIONS)
def test_promtool_accepts_them(changes: dict[str, Any], promtool: Path, tmp_path: Path) -> None:
    accepted(plan_with({"monitoring": {}, **changes}), promtool, tmp_path)


@pytest.mark.parametrize("variant", VARIANTS)
def test_promtool_accepts_those_of_every_kind_of_deployment(variant: str, promtool: Path, tmp_path: Path) -> None:
    monitored = {"monitoring": {}, "network_policy": None, "slo": {"itl_p95_seconds": 0.05}}
    accepted(plan_with({**VARIANTS[variant], **monitored}), promtool, tmp_path)


def accepted(plan: DeploymentPlan, promtool: Path, folder: Path) -> None:
    assert plan.monitoring is not None
    path = folder / "rules.yaml"
    path.write_text(rule_file(plan, plan.monitoring), encoding="utf-8")
    done = subprocess.run([promtool, "check", "rules", path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "SUCCESS" in done.stdout


def test_groups_have_no_labels_of_their_own_which_older_servers_refuse(plan: DeploymentPlan) -> None:
    assert plan.monitoring is not None
    groups = rule_groups(plan, plan.monitoring)
    assert {frozenset(group) for group in groups} == {frozenset({"name", "rules"})}
    assert len({group["name"] for group in groups}) == len(groups) == 10


def test_every_rule_reads_this_deployment_alone(plan: DeploymentPlan) -> None:
    assert plan.monitoring is not None
    for group in rule_groups(plan, plan.monitoring):
        for rule in group["rules"]:
            selectors = rule["expr"].count("{")
            own = rule["expr"].count('namespace="inference",ray_service="qwen35-9b"')
            operators = rule["expr"].count('namespace="inference",name="qwen35-9b"')
            assert own + operators == selectors, rule["expr"]


def test_the_windows_are_those_of_the_burn_rates() -> None:
    assert set(WINDOWS) == {window for rate in BURN_RATES for window in (rate.long, rate.short)}
    assert [(rate.factor, rate.long, rate.short) for rate in BURN_RATES] == [
        (14.4, "1h", "5m"),
        (6, "6h", "30m"),
        (3, "1d", "2h"),
        (1, "3d", "6h"),
    ]
    assert LEAST_REQUESTS == 10


SCOPE = Scope("ns", "svc")
OWN = 'namespace="ns",ray_service="svc"'


def objective(seconds: float) -> LatencyObjective:
    below, above = around(seconds, TTFT)
    return LatencyObjective(phase="prefill", seconds=seconds, below_seconds=below, above_seconds=above, share=0.95)


def test_a_time_on_a_boundary_is_counted() -> None:
    share = slow_share(SCOPE, "t", objective(1.0), "5m")
    assert share.count("t_bucket") == 1
    assert f'rate(t_bucket{{{OWN},phase="prefill",le=~"1(\\\\.0)?"}}[5m])' in share


def test_a_time_between_two_boundaries_is_interpolated() -> None:
    share = slow_share(SCOPE, "t", objective(1.75), "5m")
    assert share.count("t_bucket") == 2
    assert " * 0.5 + " in share


def test_a_time_below_the_first_boundary_is_a_part_of_its_bucket() -> None:
    share = slow_share(SCOPE, "t", objective(0.0005), "5m")
    assert share.count("t_bucket") == 1
    assert " * 0.5)" in share


def test_boundaries_are_found() -> None:
    assert around(0.25, TTFT) == (0.25, 0.25)
    assert around(0.3, TTFT) == (0.25, 0.5)
    assert around(0.0001, TTFT) == (None, 0.001)
    with pytest.raises(ValueError, match="2560"):
        around(2561, TTFT)
    assert at_least(0.3, TTFT) == 0.5
    assert at_least(2561, TTFT) is None


@pytest.mark.parametrize(
    ("seconds", "expected"), [(1.0, '"1(\\\\.0)?"'), (0.25, '"0\\\\.25"'), (2560.0, '"2560(\\\\.0)?"')]
)
def test_buckets_are_found_whether_they_are_written_as_1_or_as_1_0(seconds: float, expected: str) -> None:
    assert bucket(seconds) == f"le=~{expected}"


def test_a_counter_that_was_not_there_counts_from_its_first_event() -> None:
    own, up = f"x{{{OWN}}}", f'up{{{OWN},exporter=""}}'
    assert events(SCOPE, "x", "5m") == (
        f"({own} unless last_over_time({own}[15m] offset 5m) and count_over_time({own}[5m])"
        f" < on (namespace, pod) group_left () max by (namespace, pod) (sum_over_time({up}[5m])))"
        f" or increase({own}[5m])"
    )
