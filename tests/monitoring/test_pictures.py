"""Each dashboard is drawn from recorded data, as it is now, and every panel has an answer there."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from support.dashboards import NAMES
from support.specs import ROOT
from tools.dashboards.asked import is_made_up, lines_of, recorded_server
from tools.dashboards.deployment import drawn_dashboards
from tools.dashboards.digest import digest_of
from tools.dashboards.drawing import draw
from tools.monitoring.server import Server

PICTURES = ROOT / "docs" / "dashboards"
PAGE = (ROOT / "docs" / "dashboards.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, prometheus_is_here: None) -> Iterator[Server]:
    with recorded_server(tmp_path_factory.mktemp("recorded")) as running:
        yield running


@pytest.mark.parametrize("name", NAMES)
def test_the_picture_is_of_this_dashboard_and_of_this_data(name: str) -> None:
    with Image.open(PICTURES / f"{name}.png") as picture:
        drawn = picture.info["Description"]
    assert drawn == digest_of(drawn_dashboards()[name]), "python -m tools.dashboards draws them anew"


def test_the_page_shows_every_picture() -> None:
    assert re.findall(r"^!\[.*\]\((.*)\)$", PAGE, re.MULTILINE) == [f"dashboards/{name}.png" for name in NAMES]
    assert {page.stem for page in PICTURES.iterdir()} == set(NAMES)


@pytest.mark.parametrize("name", NAMES)
def test_every_query_has_an_answer(name: str, server: Server) -> None:
    for panel in drawn_dashboards()[name]["panels"]:
        for target in panel.get("targets", []):
            assert lines_of(server, {"targets": [target]}), f"{panel['title']}: {target['expr']}"


def test_all_but_gpus_and_alerts_were_recorded() -> None:
    found = drawn_dashboards()
    made_up = {
        name: [panel["title"] for panel in dashboard["panels"] if is_made_up(panel)]
        for name, dashboard in found.items()
    }
    assert len(made_up.pop("gpus")) == 20
    assert made_up == {"overview": ["Alerts that fire"], "hand-over": [], "endpoint": []}


def test_both_phases_are_drawn(server: Server, tmp_path: Path) -> None:
    dashboard = drawn_dashboards()["overview"]
    lines = {panel["id"]: lines_of(server, panel) for panel in dashboard["panels"]}
    titled = {panel["title"]: lines[panel["id"]] for panel in dashboard["panels"]}
    for phase in ("prefill", "decode"):
        names = [line.name for line in titled[f"{phase}: time to the first token"]]
        assert names == ["quantile 0.5", "quantile 0.95", "quantile 0.99"]
        assert max(value for line in titled[f"{phase}: requests"] for _, value in line.values) > 0
    draw(dashboard, lines, tmp_path / "drawn.png", "digest")
    with Image.open(tmp_path / "drawn.png") as picture:
        assert picture.info["Description"] == "digest"
        assert picture.width == 1008
