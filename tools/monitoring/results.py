"""What each recording rule yields, as a table."""

from __future__ import annotations

from typing import Any

from constructs_pd.manifests.monitoring.rules import rule_groups
from constructs_pd.planning.deployment_plan import DeploymentPlan
from tools.monitoring.server import Server

_OF_ALL = ("__name__", "namespace", "ray_service")


def records(plan: DeploymentPlan) -> list[str]:
    """Return the names of the recording rules, in their order, each once."""
    assert plan.monitoring is not None
    groups = rule_groups(plan, plan.monitoring)
    return list(dict.fromkeys(rule["record"] for group in groups for rule in group["rules"] if "record" in rule))


def table(server: Server, plan: DeploymentPlan, at: float) -> str:
    """Return a table in Markdown of what each rule yields at a time."""
    lines = ["| rule | labels | value |", "| --- | --- | ---: |"]
    for name in records(plan):
        found = server.query(name, at)
        lines += [f"| `{name}` | {_labels(each)} | {float(each['value'][1]):.4g} |" for each in found]
        if not found:
            lines.append(f"| `{name}` | | nothing |")
    return "\n".join(lines)


def _labels(series: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in sorted(series["metric"].items()) if key not in _OF_ALL)
