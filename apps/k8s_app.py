"""The cdk8s app of a deployment: `cdk8s synth` runs it.

The specification is apps/reference.yaml, or the file that CONSTRUCTS_PD_SPEC names.
"""

import os
from pathlib import Path

from cdk8s import App, Chart

from constructs_pd import (
    DeploymentMonitoring,
    DeploymentNamespace,
    DeploymentPlan,
    GatewayNamespace,
    OpenAIEndpoint,
    PrefillDecodeService,
    RayLlmCluster,
    plan_or_exit,
)
from constructs_pd.manifests.chart_values import chart_values
from constructs_pd.manifests.monitoring.rules import rule_file

REFERENCE = Path(__file__).with_name("reference.yaml")


class DeploymentChart(Chart):
    """Everything of one deployment in one manifest, named after the deployment."""

    def __init__(self, app: App, plan: DeploymentPlan) -> None:
        super().__init__(app, plan.name, disable_resource_name_hashes=True)
        cluster = RayLlmCluster(self, "cluster", plan=plan)
        if plan.namespace != "default":
            cluster.node.add_dependency(DeploymentNamespace(self, "namespace", plan=plan))
        service = PrefillDecodeService(self, "service", plan=plan, cluster=cluster)
        endpoint = OpenAIEndpoint(self, "endpoint", plan=plan, service=service)
        if plan.endpoint.gateway is not None:
            endpoint.node.add_dependency(GatewayNamespace(self, "gateway-namespace", plan=plan))


def write_monitoring(folder: Path, plan: DeploymentPlan) -> None:
    """Write monitoring to folders of its own, which `kubectl apply -f dist/` does not look into.

    A cluster without the Prometheus operator's definitions would refuse the monitors, and nobody applies a rule file.
    """
    if plan.monitoring is None:
        return
    app = App(outdir=str(folder / "monitoring"))
    DeploymentMonitoring(
        Chart(app, f"{plan.name}-monitoring", disable_resource_name_hashes=True), "monitoring", plan=plan
    )
    app.synth()
    if plan.monitoring.has_rules:
        rules = folder / "rules"
        rules.mkdir()
        (rules / f"{plan.name}.rules.yaml").write_text(rule_file(plan, plan.monitoring), encoding="utf-8")


def write_chart_values(folder: Path, plan: DeploymentPlan) -> None:
    """Write the values of the charts that a cluster that exists must have."""
    folder.mkdir()
    for name, text in chart_values(plan).items():
        (folder / name).write_text(text, encoding="utf-8")


def main() -> None:
    """Plan first: on errors nothing is written and the program ends with status 1."""
    plan = plan_or_exit(os.environ.get("CONSTRUCTS_PD_SPEC", REFERENCE))
    app = App()
    DeploymentChart(app, plan)
    app.synth()
    write_monitoring(Path(app.outdir), plan)
    if plan.eks_cluster is None:
        write_chart_values(Path(app.outdir) / "charts", plan)


if __name__ == "__main__":
    main()
