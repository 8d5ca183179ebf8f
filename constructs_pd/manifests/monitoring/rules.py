"""All rules of a deployment, as a Prometheus rule file has them."""

from __future__ import annotations

from typing import Any

import yaml

from constructs_pd.manifests.monitoring.alerts import alerts
from constructs_pd.manifests.monitoring.burn_rates import slo_rules
from constructs_pd.manifests.monitoring.recording_rules import recording_rules
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import MonitoringPlan


def rule_groups(plan: DeploymentPlan, monitoring: MonitoringPlan) -> list[dict[str, Any]]:
    """Return the groups: recording rules first. A group's rules are evaluated in their order."""
    recorded = recording_rules(plan, monitoring)
    if monitoring.slo is not None:
        recorded["slo"] = list(slo_rules(plan, monitoring.slo))
    groups = {**recorded, **{f"{name}-alerts": rules for name, rules in alerts(plan, monitoring).items()}}
    return [{"name": f"{plan.namespace}-{plan.name}-{name}", "rules": rules} for name, rules in groups.items()]


def rule_file(plan: DeploymentPlan, monitoring: MonitoringPlan) -> str:
    """Return the rules as a file for `rule_files` of a Prometheus, or for Amazon Managed Prometheus."""
    return yaml.safe_dump({"groups": rule_groups(plan, monitoring)}, sort_keys=False, width=1000)
