"""What a real Prometheus recorded of the real engine: each rule had a value, with the right labels."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from constructs_pd import DeploymentPlan
from support.recorded_rules import phases_of
from tools.monitoring.metric_names import known, series_of
from tools.monitoring.recorded import restore, times
from tools.monitoring.results import records
from tools.monitoring.server import Server, prometheus


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prometheus_is_here: None) -> Iterator[Server]:
    folder = tmp_path_factory.mktemp("recorded")
    restore(folder)
    with prometheus(folder) as running:
        yield running


def test_each_rule_had_a_value_for_its_phases(server: Server, plan: DeploymentPlan) -> None:
    begin, end = times()
    assert end - begin > 240
    for record in records(plan):
        found = server.query_range(record, begin, end, 15)
        assert found, record
        assert {series["metric"].get("phase") for series in found} - {None} == phases_of(record), record
        for series in found:
            assert (series["metric"]["namespace"], series["metric"]["ray_service"]) == ("inference", "qwen35-9b")


def test_the_parts_of_the_time_to_the_first_token_make_the_whole(server: Server) -> None:
    _, end = times()
    (parts,) = server.query("sum (phase:ttft_part_seconds:mean5m)", end - 60)
    (whole,) = server.query("sum (phase:ttft_seconds:mean5m)", end - 60)
    assert float(parts["value"][1]) == pytest.approx(float(whole["value"][1]), rel=0.05)


def test_both_phases_saw_the_same_requests_but_for_the_last_moments(server: Server) -> None:
    _, end = times()
    found = server.query("sum by (phase) (ray_vllm_time_to_first_token_seconds_count)", end)
    counts = {series["metric"]["phase"]: float(series["value"][1]) for series in found}
    assert counts["prefill"] > 100
    assert counts["decode"] == pytest.approx(counts["prefill"], rel=0.03)


def test_what_was_scraped_stands_in_the_list_of_names(server: Server) -> None:
    exported = series_of(known())
    begin, end = times()
    scraped = server.query_range('count by (__name__) ({__name__=~"ray_.+"})', begin, end, 60)
    names = {series["metric"]["__name__"] for series in scraped}
    assert len(names) > 60
    assert names - exported.keys() == set()
