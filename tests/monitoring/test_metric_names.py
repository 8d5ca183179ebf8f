"""No rule believes a name: each that it reads is exported, with the labels that it asks for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.planning.monitoring import MEASURED_WITH
from support.metric_mistakes import OF_TARGETS, labels_recorded, mistakes_of, rules_of
from support.specs import plan_with
from tools.monitoring import metric_names
from tools.monitoring.expressions import labels_listed, series_read
from tools.monitoring.metric_names import (
    EXPORTED,
    PINNED,
    MetricName,
    exported,
    known,
    names_on_pages,
    pinned_lines,
    series_of,
    write_exported,
)

MONITORED = {
    "monitoring": {"dcgm_exporter": True},
    "slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.06, "availability": 0.999},
}
#: Every rule that there is: without the numbers of a hand-over some are others.
PLANS = (plan_with(MONITORED), plan_with({**MONITORED, "model.max_model_len": 2048, "prefill.replicas": 2}))
NAMES = known()


def mistakes(plan: DeploymentPlan, names: Iterable[MetricName]) -> Iterator[str]:
    """Yield each series and label that a rule reads and nothing exports."""
    rules = rules_of(plan)
    expressions = [(str(rule.get("record") or rule.get("alert")), str(rule["expr"])) for rule in rules]
    yield from mistakes_of(expressions, labels_recorded(rules), series_of(names))


@pytest.mark.parametrize("plan", PLANS)
def test_each_name_and_label_of_a_rule_is_exported(plan: DeploymentPlan) -> None:
    assert list(mistakes(plan, NAMES)) == []


def used() -> list[str]:
    """Return the metrics that rules read."""
    read = {each.name for plan in PLANS for rule in rules_of(plan) for each in series_read(str(rule["expr"]))}
    return [name.metric for name in NAMES if read & name.series().keys()]


def test_rules_read_metrics_of_every_kind() -> None:
    assert len(used()) == 22
    assert {name.split("_")[0] for name in used()} == {"ray", "kuberay", "DCGM", "up"}


@pytest.mark.parametrize("metric", used())
def test_without_a_metric_in_the_list_a_rule_is_refused(metric: str) -> None:
    rest = [name for name in NAMES if name.metric != metric]
    assert any(f" {metric}" in mistake for plan in PLANS for mistake in mistakes(plan, rest))


@pytest.mark.parametrize("metric", [name.metric for name in NAMES if name.metric in set(used()) and name.labels])
def test_without_its_labels_a_rule_that_asks_for_them_is_refused(metric: str) -> None:
    rest = [replace(name, labels=()) if name.metric == metric else name for name in NAMES]
    asked = {
        label
        for plan in PLANS
        for rule in rules_of(plan)
        for read in series_read(str(rule["expr"]))
        if read.name.startswith(metric)
        for label in read.labels - OF_TARGETS - {"le"}
    }
    found = {mistake for plan in PLANS for mistake in mistakes(plan, rest)}
    assert bool(asked) <= bool(found)


PINNED_LINES = PINNED.read_text(encoding="utf-8").splitlines()


@pytest.mark.parametrize("line", PINNED_LINES, ids=lambda line: line.split()[0])
def test_what_a_rehearsal_exported_stands_in_the_list_as_it_was_seen(line: str) -> None:
    assert line in pinned_lines(exported()), "exported.yaml is written by python -m tools.monitoring alone"


def test_the_list_has_nothing_else() -> None:
    assert pinned_lines(exported()) == PINNED_LINES
    assert len(PINNED_LINES) == 75


@pytest.mark.parametrize("metric", [name.metric for name in exported()])
def test_no_name_can_be_lost(metric: str) -> None:
    assert pinned_lines(name for name in exported() if name.metric != metric) != PINNED_LINES


def test_both_lists_are_written_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("EXPORTED", "PINNED"):
        monkeypatch.setattr(metric_names, name, tmp_path / name)
    assert write_exported({"decode": PAGE}, "Ray 1", "2026-11-30") == 3
    assert (tmp_path / "PINNED").read_text(encoding="utf-8").splitlines() == [
        "ray_serve_c_total counter [] decode",
        "ray_vllm_a_seconds histogram [engine] decode",
        "ray_vllm_b_count gauge [reason] decode",
    ]


def test_each_name_stands_once_with_its_source() -> None:
    metrics = [name.metric for name in NAMES]
    assert sorted(metrics) == sorted(set(metrics))
    assert all(name.source and name.date and name.where for name in NAMES)
    assert {name.type for name in NAMES} == {"counter", "gauge", "histogram"}


def test_counters_are_named_as_ray_names_them() -> None:
    ray = [name for name in NAMES if name.metric.startswith("ray_")]
    assert len(ray) > 60
    assert [name.metric for name in ray if name.type == "counter" and not name.metric.endswith("_total")] == []


def test_the_planner_knows_with_which_versions_the_names_were_seen() -> None:
    text = EXPORTED.read_text(encoding="utf-8")
    assert f"Ray {MEASURED_WITH['ray']} and vLLM {MEASURED_WITH['vllm']}" in text


PAGE = """\
# HELP ray_vllm_a_seconds Time.
# TYPE ray_vllm_a_seconds histogram
ray_vllm_a_seconds_bucket{WorkerId="w",engine="0",le="1.0"} 1
ray_vllm_a_seconds_count{WorkerId="w",engine="0"} 1
# TYPE ray_vllm_b_count gauge
ray_vllm_b_count{reason="a \\"}b",Version="2"} 1.0
# TYPE ray_serve_c_total counter
ray_serve_c_total 3
# TYPE ray_tasks gauge
ray_tasks 3
"""


def test_names_are_read_from_pages() -> None:
    assert list(names_on_pages({"head": "", "decode": PAGE, "prefill": PAGE.splitlines()[-3] + PAGE})) == [
        ("ray_serve_c_total", "counter", (), ("decode", "prefill")),
        ("ray_vllm_a_seconds", "histogram", ("engine",), ("decode", "prefill")),
        ("ray_vllm_b_count", "gauge", ("reason",), ("decode", "prefill")),
    ]


def test_expressions_are_read() -> None:
    expression = (
        'sum by (phase, le) (rate(a_bucket{le=~"1(\\\\.0)?",b!="or {c}"}[5m] offset 5m)) * 1e9 / on (d) group_left () f'
        " unless g:h:i > 2e-3 and ignoring (j) vector(0)"
    )
    assert [(read.name, read.labels) for read in series_read(expression)] == [
        ("a_bucket", {"le", "b"}),
        ("f", frozenset()),
        ("g:h:i", frozenset()),
    ]
    assert labels_listed(expression) == {"phase", "le", "d", "j"}
