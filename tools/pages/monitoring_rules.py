"""The page of rules as Prometheus reads them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from constructs_pd.manifests.monitoring.rules import rule_groups
from tools.dashboards.deployment import drawn_plan
from tools.pages.promql import Query, promql
from tools.pages.table import NOTE

_HEAD: Final = """# Rules as Prometheus reads them

The recording rules and alerts of the reference deployment, with the promise that was recorded and the GPUs' exporter,
by group. [monitoring.md](monitoring.md) says what they mean and what each recorded; your own deployment's, with its
names and thresholds, are in `dist/rules/`.
"""


def monitoring_rules_page() -> str:
    """Return every rule with its query."""
    plan = drawn_plan()
    assert plan.monitoring is not None
    return NOTE + _HEAD + "".join(_sections(rule_groups(plan, plan.monitoring), f"{plan.namespace}-{plan.name}-"))


def _sections(groups: list[dict[str, Any]], prefix: str) -> Iterator[str]:
    for group in groups:
        yield f"\n## {group['name'].removeprefix(prefix)}\n\n" + promql(_query(rule) for rule in group["rules"])


def _query(rule: dict[str, Any]) -> Query:
    if "alert" in rule:
        phase = rule["labels"].get("phase")
        parts = (rule["alert"], rule["labels"]["severity"], phase, f"for {rule['for']}" if "for" in rule else None)
        return Query(", ".join(part for part in parts if part), (rule["expr"],))
    labels = ",".join(f'{name}="{value}"' for name, value in rule.get("labels", {}).items())
    return Query(rule["record"] + (f"{{{labels}}}" if labels else ""), (rule["expr"],))
