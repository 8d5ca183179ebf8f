"""Every key of a dashboard, misspelled one at a time: reading it with Grafana's own models loses it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, cast

import pytest
from grafana_foundation_sdk.cog.encoder import JSONEncoder
from grafana_foundation_sdk.cog.plugins import register_default_plugins
from grafana_foundation_sdk.models.dashboard import Dashboard, DashboardLink, Panel

from support.dashboards import ALL, NAMES, dashboards_with
from support.keys import key_paths, misspelled


@pytest.fixture(scope="module", autouse=True)
def grafana_models() -> None:
    register_default_plugins()


def read_back(dashboard: dict[str, Any]) -> dict[str, Any]:
    read = Dashboard.from_json(dashboard)
    for panel in read.panels or []:
        if isinstance(panel, Panel) and panel.links:
            # The library leaves these as they are.
            panel.links = [DashboardLink.from_json(cast("dict[str, Any]", link)) for link in panel.links]
    found: dict[str, Any] = json.loads(json.dumps(read, cls=JSONEncoder))
    return found


@pytest.mark.parametrize("name", NAMES)
def test_grafanas_models_read_it_as_it_is(name: str) -> None:
    dashboard = dashboards_with(ALL)[name]
    assert read_back(dashboard) == dashboard


def one_of_each_shape(found: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return panels that together have every key that any of them has, each kind with the others around it."""
    shapes: dict[frozenset[str], dict[str, Any]] = {}
    for panel in found:
        shapes.setdefault(frozenset(shape(path) for path in key_paths(panel)), panel)
    return list(shapes.values())


def shape(path: tuple[Any, ...]) -> str:
    return ".".join("0" if isinstance(part, int) else part for part in path)


def test_no_misspelled_key_goes_unnoticed() -> None:
    found = dashboards_with(ALL).values()
    panels = one_of_each_shape(panel for dashboard in found for panel in dashboard["panels"])
    assert {panel["type"] for panel in panels} == {"row", "stat", "state-timeline", "timeseries"}
    dashboard = {**next(iter(found)), "panels": panels}
    assert read_back(dashboard) == dashboard
    seen: set[str] = set()
    unseen = []
    for path in key_paths(dashboard):
        key = f"{panels[path[1]]['type'] if len(path) > 1 and path[0] == 'panels' else ''} {shape(path)}"
        if key not in seen:
            seen.add(key)
            try:
                changed = misspelled(dashboard, path)
                unseen += [key] if read_back(changed) == changed else []
            except (AttributeError, KeyError, TypeError):
                continue  # the models cannot read it at all
    assert len(seen) > 120
    assert unseen == []
