"""No panel believes a name: each that it reads is recorded or exported, with the labels that it asks for."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from constructs_pd import DeploymentPlan
from support.dashboards import ALL, built, panels, queries
from support.metric_mistakes import labels_recorded, mistakes_of, rules_of
from support.specs import plan_with
from tools.monitoring.expressions import series_read
from tools.monitoring.metric_names import known, series_of

#: With and without what the plan may not know, which makes other panels and rules.
PLANS = (
    plan_with(ALL),
    plan_with({**ALL, "model.max_model_len": 2048, "prefill.replicas": 2}),
    plan_with({"monitoring": {"dashboards": {}}}),
)
QUERIES = queries(built(PLANS[0]))
EXPORTED = series_of(known())
RECORDED = labels_recorded(rules_of(PLANS[0]))


def mistakes(plan: DeploymentPlan, without: str = "") -> Iterator[str]:
    """Yield each series and label that a panel reads and that is not there, without one of them."""
    recorded = {name: labels for name, labels in labels_recorded(rules_of(plan)).items() if name != without}
    exported = {name: labels for name, labels in EXPORTED.items() if name != without}
    yield from mistakes_of(queries(built(plan)), recorded, exported)


@pytest.mark.parametrize("plan", PLANS)
def test_each_name_and_label_of_a_panel_is_there(plan: DeploymentPlan) -> None:
    assert list(mistakes(plan)) == []


def used() -> list[str]:
    """Return the series that panels read."""
    return sorted({read.name for _, expression in QUERIES for read in series_read(expression)})


def test_panels_read_records_and_what_is_exported() -> None:
    assert len([name for name in used() if ":" in name]) == 30
    assert len([name for name in used() if name.startswith("DCGM_")]) == 12
    assert len([name for name in used() if name.startswith("node_amazonefa_")]) == 15
    assert [name for name in used() if not re.match("phase:|endpoint:|DCGM_|node_amazonefa_", name)] == ["ALERTS"]


@pytest.mark.parametrize("name", used())
def test_without_a_series_a_panel_is_refused(name: str) -> None:
    assert any(f" reads {name}, which nothing exports" in mistake for mistake in mistakes(PLANS[0], without=name))


def test_every_record_is_shown_but_the_windows_of_burns() -> None:
    shown = set(used())
    windows = re.compile(r":ratio_rate(5m|30m|2h|6h|3d)$")
    assert {name for name in RECORDED.keys() - shown if not windows.search(name)} == {"phase:ttft_seconds:mean5m"}


def test_each_query_is_of_this_deployment_alone() -> None:
    for what, expression in QUERIES:
        for read in series_read(expression):
            assert {"namespace", "ray_service"} <= read.labels, what
        assert 'namespace="inference",ray_service="qwen35-9b"' in expression


def test_a_legend_names_labels_that_its_series_have() -> None:
    for dashboard in built(PLANS[0]).values():
        for panel in panels(dashboard):
            for target in panel["targets"]:
                read = {each.name for each in series_read(target["expr"])}
                there = set.union(*(set(RECORDED.get(name) or EXPORTED[name]) for name in read)) | {"phase"}
                assert set(re.findall(r"\{\{(\w+)\}\}", target["legendFormat"])) <= there, panel["title"]


def test_promtool_reads_every_query(promtool: Path, tmp_path: Path) -> None:
    rules = [{"record": f"panel:{place}", "expr": query} for place, (_, query) in enumerate(QUERIES)]
    file = tmp_path / "panels.yaml"
    file.write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}), encoding="utf-8")
    done = subprocess.run([promtool, "check", "rules", file], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(QUERIES)} rules found" in done.stdout
