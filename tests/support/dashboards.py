"""Dashboards as Grafana reads them, and what their panels ask."""

from __future__ import annotations

import json
from typing import Any

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.dashboards import dashboards
from support.specs import plan_with

Dashboard = dict[str, Any]
Panel = dict[str, Any]

SLO = {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.06, "availability": 0.999}
#: A deployment with everything that a panel may show.
ALL: dict[str, Any] = {
    "monitoring": {
        "runbook_base_url": "https://wiki.example.com/runbooks",
        "dcgm_exporter": True,
        "efa_exporter": {"namespace": "monitoring"},
        "dashboards": {},
    },
    "slo": SLO,
}
#: Every dashboard that there may be.
NAMES = ("overview", "hand-over", "gpus", "endpoint")


def built(plan: DeploymentPlan) -> dict[str, Dashboard]:
    """Return the dashboards of a plan."""
    assert plan.monitoring is not None
    return {name: json.loads(text) for name, text in dashboards(plan, plan.monitoring).items()}


def dashboards_with(changes: dict[str, Any]) -> dict[str, Dashboard]:
    """Return the dashboards of the reference deployment with changes."""
    return built(plan_with(changes))


def panels(dashboard: Dashboard) -> list[Panel]:
    """Return the panels without the titles of rows."""
    return [panel for panel in dashboard["panels"] if panel["type"] != "row"]


def queries(found: dict[str, Dashboard]) -> list[tuple[str, str]]:
    """Return each query, with the dashboard and the panel that asks."""
    return [
        (f"{name}: {panel['title']}", target["expr"])
        for name, dashboard in found.items()
        for panel in panels(dashboard)
        for target in panel["targets"]
    ]


def titled(dashboard: Dashboard, title: str) -> Panel:
    """Return the panel with a title."""
    (found,) = [panel for panel in panels(dashboard) if panel["title"] == title]
    return found


def marks(panel: Panel) -> list[float]:
    """Return the thresholds of a panel."""
    steps = panel["fieldConfig"]["defaults"].get("thresholds", {}).get("steps", [])
    return [step["value"] for step in steps if step["value"] is not None]
