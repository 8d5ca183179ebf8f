"""A real Prometheus scrapes a rehearsal with the mock engine, with the relabelings and the rules of the deployment."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.monitoring.pod_monitors import pod_monitors
from constructs_pd.manifests.monitoring.rules import rule_file
from support.recorded_rules import phases_of
from tools.monitoring.metric_names import known, names_on_pages
from tools.monitoring.rehearsed import rehearsed
from tools.monitoring.results import records
from tools.monitoring.scrape import scrape_config
from tools.monitoring.server import Server, prometheus

SECONDS = 30.0
SCRAPE_SECONDS = 2.0


@pytest.fixture(scope="module")
def scraped(
    tmp_path_factory: pytest.TempPathFactory, plan: DeploymentPlan, prometheus_is_here: None
) -> Iterator[tuple[Server, dict[str, str]]]:
    assert plan.monitoring is not None
    monitor = pod_monitors(plan, plan.monitoring)["ray"]
    with rehearsed(plan, "mock", lambda _: None, report_milliseconds=2000) as ran:
        jobs = [scrape_config("ray", monitor, ran.targets(), SCRAPE_SECONDS)]
        folder: Path = tmp_path_factory.mktemp("prometheus")
        rules = rule_file(plan, plan.monitoring)
        with prometheus(folder, scrape_configs=jobs, rules=rules, seconds=SCRAPE_SECONDS) as server:
            with ran.load():
                pages = ran.pages(SECONDS, SCRAPE_SECONDS)
            time.sleep(3 * SCRAPE_SECONDS)
            yield server, pages


def test_each_recording_rule_yields_values_for_its_phases(
    scraped: tuple[Server, dict[str, str]], plan: DeploymentPlan
) -> None:
    server, _ = scraped
    for record in records(plan):
        found = server.query(f"last_over_time({record}[5m])")
        assert {series["metric"].get("phase") for series in found} - {None} == phases_of(record), record
        assert {series["metric"]["ray_service"] for series in found} == {"qwen35-9b"}


def test_no_rule_fails(scraped: tuple[Server, dict[str, str]]) -> None:
    server, _ = scraped
    rules = server.rules()
    assert len(rules) == 97
    assert [rule["name"] for rule in rules if rule["health"] != "ok"] == []


def test_the_engines_metrics_carry_the_phase_of_their_pod(scraped: tuple[Server, dict[str, str]]) -> None:
    server, _ = scraped
    found = server.query("count by (phase, pod) (ray_vllm_time_to_first_token_seconds_count)")
    pods = {(series["metric"]["phase"], series["metric"]["pod"]) for series in found}
    assert pods == {("prefill", "qwen35-9b-prefill-0"), ("decode", "qwen35-9b-decode-0")}


def test_the_mock_exports_nothing_that_the_real_engine_does_not(scraped: tuple[Server, dict[str, str]]) -> None:
    real = {name.metric: name for name in known()}
    mock = [row for row in names_on_pages(scraped[1]) if row[0].startswith("ray_vllm_")]
    assert len(mock) == 10
    for name, kind, labels, _ in mock:
        assert real[name].type == kind
        assert set(labels) <= set(real[name].labels)
