"""What stands on the dashboards, where, and which numbers of the plan and of the promise."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion

from constructs_pd.manifests.dashboards import dashboards
from support.dashboards import ALL, NAMES, SLO, Dashboard, Panel, built, dashboards_with, marks, panels, titled
from support.snapshots import TextFile
from support.specs import plan_with

COLUMNS = 24
#: Kubernetes documentation, ConfigMap: 1 MiB, names and labels included.
MOST_BYTES = 1024 * 1024
PLAIN: dict[str, Any] = {"monitoring": {"dashboards": {}}}


@pytest.fixture(scope="module")
def found() -> dict[str, Dashboard]:
    return dashboards_with(ALL)


def outline(dashboard: Dashboard) -> Iterator[str]:
    """Yield a line for each panel: where it is, what it is, its unit and thresholds; and one for each query."""
    yield f"{dashboard['title']} ({dashboard['uid']})"
    for panel in dashboard["panels"]:
        place = "{x},{y} {w}x{h}".format(**panel["gridPos"])
        if panel["type"] == "row":
            yield f"{place} row: {panel['title']}"
            continue
        defaults = panel["fieldConfig"]["defaults"]
        steps = [
            f"{step['color']} from {step['value']}"
            for step in defaults.get("thresholds", {}).get("steps", [])
            if step["value"] is not None
        ]
        unit = ", ".join([defaults.get("unit", "no unit"), *steps])
        yield f"{place} {panel['type']}: {panel['title']} [{unit}]"
        for target in panel["targets"]:
            yield f"    {target['refId']} {target['legendFormat']}: {target['expr']}"


@pytest.mark.parametrize("name", NAMES)
def test_outline(name: str, found: dict[str, Dashboard], snapshot: SnapshotAssertion) -> None:
    assert "\n".join(outline(found[name])) + "\n" == snapshot(extension_class=TextFile)


def test_what_there_is(found: dict[str, Dashboard]) -> None:
    counts = {name: len(panels(dashboard)) for name, dashboard in found.items()}
    assert counts == {"overview": 29, "hand-over": 12, "gpus": 20, "endpoint": 7}
    asked = {name: sum(len(panel["targets"]) for panel in panels(found[name])) for name in found}
    assert asked == {"overview": 33, "hand-over": 14, "gpus": 52, "endpoint": 17}


def test_each_fits_into_a_config_map() -> None:
    plan = plan_with(ALL)
    assert plan.monitoring is not None
    sizes = [len(text.encode()) for text in dashboards(plan, plan.monitoring).values()]
    assert max(sizes) < MOST_BYTES / 10


def test_a_panel_has_a_place_of_its_own_and_fills_the_width_with_its_neighbours(found: dict[str, Dashboard]) -> None:
    for name, dashboard in found.items():
        taken: set[tuple[int, int]] = set()
        widths: dict[int, int] = {}
        for panel in dashboard["panels"]:
            grid = panel["gridPos"]
            cells = {
                (x, y) for x in range(grid["x"], grid["x"] + grid["w"]) for y in range(grid["y"], grid["y"] + grid["h"])
            }
            assert not cells & taken, f"{name}: {panel['title']}"
            taken |= cells
            widths[grid["y"]] = widths.get(grid["y"], 0) + grid["w"]
        assert set(widths.values()) == {COLUMNS}, name


@pytest.mark.parametrize("name", ["overview", "gpus"])
def test_prefill_stands_on_the_left_and_decode_on_the_right(name: str, found: dict[str, Dashboard]) -> None:
    beside = [panel for panel in panels(found[name]) if panel["title"].startswith(("prefill: ", "decode: "))]
    assert len(beside) >= 20
    for panel in beside:
        phase = panel["title"].partition(":")[0]
        assert panel["gridPos"]["x"] == (0 if phase == "prefill" else COLUMNS // 2)
        for target in panel["targets"]:
            assert f'phase="{phase}"' in target["expr"]


def test_what_both_phases_have_stands_side_by_side(found: dict[str, Dashboard]) -> None:
    titles: dict[str, dict[str, Panel]] = {"prefill": {}, "decode": {}}
    for panel in [*panels(found["overview"]), *panels(found["gpus"])]:
        phase, _, what = panel["title"].partition(": ")
        titles.get(phase, {})[what] = panel
    both = titles["prefill"].keys() & titles["decode"].keys()
    assert titles["prefill"].keys() ^ both == {"found in its prefix cache"}
    assert titles["decode"].keys() ^ both == {"time between tokens"}
    for what in both:
        left, right = titles["prefill"][what], titles["decode"][what]
        assert left["gridPos"]["y"] == right["gridPos"]["y"]
        assert [target["expr"].replace("prefill", "decode") for target in left["targets"]] == [
            target["expr"] for target in right["targets"]
        ]


def test_each_panel_says_what_it_answers_and_asks_the_chosen_prometheus(found: dict[str, Dashboard]) -> None:
    for dashboard in found.values():
        ids = [panel["id"] for panel in dashboard["panels"]]
        assert sorted(set(ids)) == ids
        (variable,) = dashboard["templating"]["list"]
        assert (variable["type"], variable["query"]) == ("datasource", "prometheus")
        titles = [panel["title"] for panel in panels(dashboard)]
        assert len(titles) == len(set(titles))
        for panel in panels(dashboard):
            assert "?" in panel["description"]
            assert panel["datasource"] == {"type": "prometheus", "uid": f"${{{variable['name']}}}"}
            assert len({target["refId"] for target in panel["targets"]}) == len(panel["targets"]) > 0


def test_names_of_deployments_make_dashboards_of_their_own() -> None:
    first = dashboards_with(PLAIN)
    other = dashboards_with({**PLAIN, "namespace": "other-namespace-with-a-long-name-of-its-own-so-that-it-is-cut"})
    uids = [dashboard["uid"] for found in (first, other) for dashboard in found.values()]
    assert len(set(uids)) == len(uids) == 6
    # Grafana documentation, Dashboard JSON model.
    assert max(len(uid) for uid in uids) <= 40


def test_names_of_any_length_fit_into_grafanas_limits() -> None:
    # A namespace's limit, and the name's (PD101).
    longest = {"namespace": "n" * 63, "name": "a" * 47}
    found = dashboards_with({**PLAIN, **longest})
    assert len(found) == 3
    for dashboard in found.values():
        assert len(dashboard["uid"]) <= 40
        (link,) = dashboard["links"]
        (own,) = link["tags"]
        assert dashboard["tags"] == ["constructs-pd", own]
        assert dashboard["uid"].startswith(own)
        # grafana/grafana#116047: more bytes in a tag are refused.
        assert max(len(tag.encode()) for tag in dashboard["tags"]) <= 50


def test_the_tag_of_a_deployment_is_its_own() -> None:
    others: tuple[dict[str, Any], ...] = ({}, {"name": "other"}, {"namespace": "other"})
    tags = {dashboard["tags"][1] for other in others for dashboard in dashboards_with({**PLAIN, **other}).values()}
    assert len(tags) == len(others)


def test_promises_are_marked(found: dict[str, Dashboard]) -> None:
    overview, endpoint = found["overview"], found["endpoint"]
    assert marks(titled(overview, "prefill: time to the first token")) == [1.75]
    assert marks(titled(overview, "decode: time to the first token")) == [0.25]
    assert marks(titled(overview, "First token, p95")) == [2.0]
    for panel in (titled(overview, "decode: time between tokens"), titled(overview, "Between tokens, p95")):
        assert marks(panel) == [SLO["itl_p95_seconds"]]
    for panel in (titled(overview, "Errors"), titled(endpoint, "Errors of the endpoint")):
        assert marks(panel) == [0.001]
    assert marks(titled(endpoint, "Time to the first token, of both phases")) == [2.0]
    assert marks(titled(endpoint, "How fast promises are used up, 1h")) == [1, 14.4]
    assert marks(titled(endpoint, "How fast promises are used up, 1d")) == [1, 3]


def test_without_a_promise_none_is_marked() -> None:
    found = dashboards_with(PLAIN)
    for title in ("Errors", "First token, p95", "Between tokens, p95", "decode: time to the first token"):
        assert marks(titled(found["overview"], title)) == []
    assert not [panel for panel in panels(found["endpoint"]) if "promises" in panel["title"]]
    some = dashboards_with({**PLAIN, "slo": {"availability": 0.99}})["endpoint"]
    (target,) = titled(some, "How fast promises are used up, 1h")["targets"]
    assert target["expr"].endswith(" / 0.01")


def test_what_the_plan_reckons_of_the_hand_over_is_marked(found: dict[str, Dashboard]) -> None:
    budget = plan_with(ALL).monitoring.hand_over  # type: ignore[union-attr]
    assert budget is not None
    bytes_per_second = budget.capacity_gbps * 1e9 / 8
    assert marks(titled(found["hand-over"], "Throughput")) == [0.8 * bytes_per_second, bytes_per_second]
    assert marks(titled(found["hand-over"], "Time of a transfer")) == [budget.longest_seconds, budget.slow_seconds]
    assert marks(titled(found["gpus"], "decode: EFA, all nodes")) == [0.8 * bytes_per_second, bytes_per_second]
    assert "12.5 Gbit/s" in titled(found["hand-over"], "Throughput")["description"]


def test_what_the_plan_does_not_know_is_not_marked() -> None:
    plan = plan_with(ALL)
    assert plan.monitoring is not None
    unknown = plan.model_copy(update={"monitoring": plan.monitoring.model_copy(update={"hand_over": None})})
    found = built(unknown)
    titles = {panel["title"] for panel in panels(found["hand-over"])}
    assert titles.isdisjoint({"Links in use", "Slow transfers"})
    assert marks(titled(found["hand-over"], "Throughput")) == []
    assert marks(titled(found["gpus"], "decode: EFA, all nodes")) == []


def test_the_pages_of_alerts_are_linked_where_they_have_an_address(found: dict[str, Dashboard]) -> None:
    (link,) = titled(found["overview"], "Alerts that fire")["links"]
    assert (link["type"], link["url"]) == ("link", "https://wiki.example.com/runbooks")
    assert "links" not in titled(dashboards_with(PLAIN)["overview"], "Alerts that fire")


def test_planned_replicas_are_marked() -> None:
    plan = plan_with({**PLAIN, "decode.replicas": 3})
    overview = built(plan)["overview"]
    assert marks(titled(overview, "Replicas of decode")) == marks(titled(overview, "decode: replicas and pods")) == [3]
    assert marks(titled(overview, "Replicas of prefill")) == [1]


@pytest.mark.parametrize(
    ("exporters", "rows"),
    [
        ({}, None),
        ({"dcgm_exporter": True}, ["GPUs"]),
        ({"efa_exporter": {"namespace": "monitoring"}}, ["EFA"]),
    ],
)
def test_gpus_and_efa_are_shown_where_they_are_exported(exporters: dict[str, Any], rows: list[str] | None) -> None:
    found = dashboards_with({"monitoring": {**exporters, "dashboards": {}}}).get("gpus")
    if rows is None:
        assert found is None
    else:
        assert found is not None
        assert [panel["title"] for panel in found["panels"] if panel["type"] == "row"] == rows


def test_the_same_plan_makes_the_same_text() -> None:
    plan = plan_with(ALL)
    assert json.dumps(built(plan)) == json.dumps(built(plan))
