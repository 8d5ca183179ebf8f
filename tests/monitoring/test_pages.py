"""The pages about monitoring say what is written: every alert has its page, every rule its row."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.monitoring.pod_monitors import pod_monitors
from constructs_pd.manifests.monitoring.rules import rule_groups
from constructs_pd.planning.monitoring_plan import EfaExporterPlan
from support.specs import ROOT
from tools.dashboards.deployment import drawn_dashboards, drawn_plan
from tools.monitoring.results import records
from tools.monitoring.scrape import scrape_config

PAGE = ROOT / "docs" / "monitoring.md"
TEXT = PAGE.read_text(encoding="utf-8")
RUNBOOKS = sorted((ROOT / "docs" / "runbooks").glob("*.md"))


def alert_rules(plan: DeploymentPlan) -> list[dict[str, Any]]:
    assert plan.monitoring is not None
    return [rule for group in rule_groups(plan, plan.monitoring) for rule in group["rules"] if "alert" in rule]


def test_each_alert_has_its_page_and_each_page_its_alert(plan: DeploymentPlan) -> None:
    alerts = alert_rules(plan)
    assert {page.stem for page in RUNBOOKS} == {rule["alert"] for rule in alerts}
    for rule in alerts:
        assert (ROOT / rule["annotations"]["runbook_url"]).is_file()


@pytest.mark.parametrize("page", RUNBOOKS, ids=lambda page: page.stem)
def test_a_page_says_what_it_means_where_to_look_and_what_to_do(page: Path, plan: DeploymentPlan) -> None:
    text = page.read_text(encoding="utf-8")
    assert text.startswith(f"# {page.stem}\n")
    assert re.findall(r"^## (.*)$", text, re.MULTILINE) == ["What it means", "Where to look", "What to do"]
    for link in re.findall(r"\]\(([^)]+)\)", text):
        assert (page.parent / link).is_file(), link
    recorded = set(records(plan))
    for name in re.findall(r"\b(?:phase|endpoint):[\w:]+", text):
        assert name in recorded


def test_each_alert_stands_in_the_table_with_its_severities(plan: DeploymentPlan) -> None:
    rows = dict(re.findall(r"^\| \[(\w+)\]\(runbooks/\1\.md\) \| (.*?) \|", TEXT, re.MULTILINE))
    severities: dict[str, set[str]] = {}
    for rule in alert_rules(plan):
        severities.setdefault(rule["alert"], set()).add(rule["labels"]["severity"])
    assert rows.keys() == severities.keys()
    for name, found in severities.items():
        expected = {"warning", "critical"} if rows[name] == "both" else set(re.findall("warning|critical", rows[name]))
        assert found == expected, name


def test_each_recording_rule_stands_in_the_table(plan: DeploymentPlan) -> None:
    stated = set(re.findall(r"^\| `((?:phase|endpoint):[\w:]+)`", TEXT, re.MULTILINE))
    windows = ("30m", "1h", "2h", "6h", "1d", "3d")
    stated |= {name.replace("5m", window) for name in stated if "slow:ratio_rate" in name for window in windows}
    stated |= {name.replace("30m", window) for name in stated if "errors" in name for window in windows}
    assert stated == set(records(plan))


@pytest.fixture(scope="module")
def snippet() -> list[dict[str, Any]]:
    (text,) = re.findall(r"^```yaml scrape\n(.*?)^```", TEXT, re.DOTALL | re.MULTILINE)
    jobs: list[dict[str, Any]] = yaml.safe_load(text)
    return jobs


def test_prometheus_reads_the_scrape_configuration(
    snippet: list[dict[str, Any]], promtool: Path, tmp_path: Path
) -> None:
    config = tmp_path / "prometheus.yaml"
    # Debian's build knows no Kubernetes.
    jobs = [{key: value for key, value in job.items() if key != "kubernetes_sd_configs"} for job in snippet]
    config.write_text(yaml.safe_dump({"scrape_configs": jobs}), encoding="utf-8")
    done = subprocess.run(
        [promtool, "check", "config", "--syntax-only", config], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_scrape_configuration_adds_the_labels_that_the_monitors_add(
    snippet: list[dict[str, Any]], plan: DeploymentPlan
) -> None:
    assert plan.monitoring is not None
    efa = EfaExporterPlan(namespace="default", pod_labels={}, port_name="metrics")
    monitors = pod_monitors(plan, plan.monitoring.model_copy(update={"efa_exporter": efa}))
    for job, name in zip(snippet, ("ray", "operator", "gpus", "efa"), strict=True):
        written = scrape_config(name, monitors[name], [], 15)
        assert job.get("honor_labels", False) == written["honor_labels"]
        targets = {rule.get("target_label") for rule in job["relabel_configs"]} - {"__address__", None}
        of_monitor = {rule.get("target_label") for rule in written["relabel_configs"]} - {None}
        # The operator adds these of its own accord; the rules read them of Ray's pods alone.
        assert of_monitor - targets <= ({"namespace", "pod"} if name != "ray" else set())
        assert targets <= of_monitor
        # What it keeps of the operator, the rules select by name.
        if name != "operator":
            assert job.get("metric_relabel_configs", []) == written["metric_relabel_configs"]
        phase = [rule for rule in job["relabel_configs"] if rule.get("target_label") == "phase"]
        assert phase == [rule for rule in written["relabel_configs"] if rule.get("target_label") == "phase"]


def test_the_page_of_rules_has_the_query_of_each() -> None:
    plan = drawn_plan()
    assert plan.monitoring is not None
    rules = [rule for group in rule_groups(plan, plan.monitoring) for rule in group["rules"]]
    queries = re.findall(r"^# (\S+).*\n(?!#)(.+)$", promql_of("monitoring_rules.md"), re.MULTILINE)
    assert len(queries) == len(rules) == 97
    assert {query for _, query in queries} == {rule["expr"] for rule in rules}


def test_the_page_of_dashboards_has_the_queries_of_each_panel() -> None:
    asked = promql_of("dashboards.md")
    found = [panel for name in drawn_dashboards().values() for panel in name["panels"] if panel["type"] != "row"]
    assert asked.count("\n# ") + 1 == len(found) == 68
    for panel in found:
        queries = "\n".join(target["expr"] for target in panel["targets"])
        assert f"# {panel['title']}\n{queries}\n" in asked


def promql_of(page: str) -> str:
    """Return the queries of a page, without what is around them."""
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return "".join(re.findall(r"^```promql\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
