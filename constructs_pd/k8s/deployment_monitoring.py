"""Monitoring of a deployment."""

from __future__ import annotations

import cdk8s_plus_28 as kplus
from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.composition import refusal, require_plan
from constructs_pd.k8s.composition import require_unique_in_app
from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.manifests.monitoring.pod_monitors import pod_monitors
from constructs_pd.manifests.monitoring.rules import rule_file, rule_groups
from constructs_pd.planning.codes import NO_DASHBOARDS, NO_MONITORING
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import DashboardsPlan, MonitoringPlan

_API: str = "monitoring.coreos.com/v1"


class DeploymentMonitoring(Construct):
    """PodMonitors that give every series its phase, a PrometheusRule with recording rules and alerts, and dashboards.

    Write it to a file of its own: a cluster without the Prometheus operator's definitions refuses it. Where the plan
    has pods annotated instead, the rules are in a ConfigMap. Each dashboard is in one, for Grafana's sidecar.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: A plan of a deployment with monitoring.

    Attributes:
        plan: That plan.

    Raises:
        PlanError: The app has monitoring of this deployment already (PD504), the plan has none (PD523), the plan has
            dashboards and the extra `observability` is not installed (PD524), or an argument is of another kind
            (PD520).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        monitoring = plan.monitoring
        if monitoring is None:
            raise refusal(
                NO_MONITORING,
                self.node,
                f"the plan of {plan.name!r} monitors 0 pods",
                "state monitoring, or leave this construct out",
            )
        require_unique_in_app(self)
        for name, spec in pod_monitors(plan, monitoring).items():
            custom_resource(
                self,
                f"{name}-monitor",
                api_version=_API,
                kind="PodMonitor",
                metadata=self._metadata(plan, monitoring, name),
                spec=spec,
            )
        if monitoring.has_rules:
            self._rules(plan, monitoring)
        if monitoring.dashboards is not None:
            self._dashboards(plan, monitoring, monitoring.dashboards)

    def _rules(self, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
        metadata = self._metadata(plan, monitoring, "rules")
        if monitoring.scraping == "pod_monitors":
            custom_resource(
                self,
                "Resource",
                api_version=_API,
                kind="PrometheusRule",
                metadata=metadata,
                spec={"groups": rule_groups(plan, monitoring)},
            )
        else:
            data = {f"{plan.namespace}-{plan.name}.rules.yaml": rule_file(plan, monitoring)}
            kplus.ConfigMap(self, "Resource", metadata=metadata, data=data)

    def _dashboards(self, plan: DeploymentPlan, monitoring: MonitoringPlan, stated: DashboardsPlan) -> None:
        # Only where dashboards are wanted: they need an extra of their own.
        try:
            from constructs_pd.manifests.dashboards import dashboards
        except ImportError as error:
            if error.name != "grafana_foundation_sdk":
                raise
            raise refusal(
                NO_DASHBOARDS,
                self.node,
                f"the plan of {plan.name!r} has dashboards, and {error.name} is not installed",
                "pip install 'constructs-pd[observability]', or leave monitoring.dashboards out",
            ) from None

        for name, text in dashboards(plan, monitoring).items():
            metadata = ApiObjectMetadata(
                name=f"{monitoring.name_prefix}-dashboard-{name}",
                namespace=plan.namespace,
                labels={**plan.labels, **stated.labels},
                annotations=stated.annotations,
            )
            # The sidecar writes all namespaces' files into one folder.
            data = {f"{plan.namespace}-{plan.name}-{name}.json": text}
            kplus.ConfigMap(self, f"{name}-dashboard", metadata=metadata, data=data)

    def _metadata(self, plan: DeploymentPlan, monitoring: MonitoringPlan, name: str) -> ApiObjectMetadata:
        # Those that select come last: no label of the user's may hide a monitor from its Prometheus.
        return ApiObjectMetadata(
            name=f"{monitoring.name_prefix}-{name}",
            namespace=plan.namespace,
            labels={**plan.labels, **monitoring.labels},
        )
