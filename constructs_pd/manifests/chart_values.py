"""Values files of the Helm charts that a deployment needs, for those who install them by hand."""

from __future__ import annotations

import yaml

from constructs_pd.planning.cluster_plan import ChartPlan
from constructs_pd.planning.deployment_plan import DeploymentPlan

# Where the files are written, seen from where the commands are run.
FOLDER = "dist/charts"
# What a user puts in the place of a value that is known of their cluster only.
PLACEHOLDERS = {"cluster_name": "CLUSTER", "vpc_id": "VPC_ID"}


def chart_values(plan: DeploymentPlan) -> dict[str, str]:
    """Return the files by name, each with the command that installs its chart."""
    return {f"{chart.name}.yaml": _file(chart) for chart in plan.charts}


def _file(chart: ChartPlan) -> str:
    sets = "".join(f" --set {name}={PLACEHOLDERS[what]}" for name, what in chart.cluster_values.items())
    command = (
        f"helm upgrade --install {chart.name} {chart.name} --version {chart.version} --repo {chart.repository} "
        f"--namespace {chart.namespace} --create-namespace --values {FOLDER}/{chart.name}.yaml{sets}"
    )
    return f"# {command}\n{yaml.safe_dump(chart.values, sort_keys=True)}"
