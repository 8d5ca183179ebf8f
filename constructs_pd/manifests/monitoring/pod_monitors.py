"""PodMonitors: what the Prometheus operator scrapes, and which labels it adds.

`phase` comes from the pods' own label of their role, which the plan owns, and `ray_service` is the deployment's name:
both stay while KubeRay replaces a RayCluster by another. ServiceMonitors would see some pods twice, as KubeRay makes
several Services of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, Final

from constructs_pd.manifests.monitoring.promql import EXPORTER_LABEL, PHASE_LABEL, SERVICE_LABEL
from constructs_pd.planning import defaults
from constructs_pd.planning.charts import DCGM_EXPORTER, KUBERAY_OPERATOR
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import EfaExporterPlan, MonitoringPlan

#: Name of the port of the operator's pods (KubeRay 1.7.0 helm-chart/kuberay-operator/templates/deployment.yaml) and of
#: the exporter's (NVIDIA/dcgm-exporter 4.5.3-4.8.2 deployment/templates/daemonset.yaml).
_OPERATOR_PORT: Final = "http"
_EXPORTER_PORT: Final = "metrics"
#: What the names of EFA's counters begin with (awslabs/awsome-distributed-ai 95b939c
#: 4.validation_and_observability/3.efa-node-exporter/amazon_efa_linux.go).
EFA_PREFIX: Final = "node_amazonefa_"
_PATH: Final = "/metrics"
_ROLES: Final = ("head", "prefill", "decode")
_NAME: Final = "app.kubernetes.io/name"


def pod_monitors(plan: DeploymentPlan, monitoring: MonitoringPlan) -> dict[str, dict[str, Any]]:
    """Return the specs of the PodMonitors by what they watch; none where pods are annotated instead."""
    if monitoring.scraping != "pod_monitors":
        return {}
    return dict(_monitors(plan, monitoring))


def _monitors(plan: DeploymentPlan, monitoring: MonitoringPlan) -> Iterator[tuple[str, dict[str, Any]]]:
    yield (
        "ray",
        {
            "selector": {
                "matchLabels": plan.selector_labels,
                "matchExpressions": [{"key": plan.role_label, "operator": "In", "values": list(_ROLES)}],
            },
            "podMetricsEndpoints": [
                _endpoint(monitoring, monitoring.metrics_port_name, relabelings=_phase_of_pods(plan))
            ],
        },
    )
    yield (
        "operator",
        {
            "namespaceSelector": {"matchNames": [monitoring.operator_namespace]},
            "selector": {"matchLabels": {_NAME: KUBERAY_OPERATOR}},
            "podMetricsEndpoints": [
                # `namespace` is the RayService's, and not the operator's.
                {
                    **_endpoint(monitoring, _OPERATOR_PORT, metricRelabelings=_only_own(plan)),
                    "honorLabels": True,
                }
            ],
        },
    )
    if monitoring.gpu_namespace is not None:
        yield (
            "gpus",
            {
                "namespaceSelector": {"matchNames": [monitoring.gpu_namespace]},
                "selector": {"matchLabels": {_NAME: DCGM_EXPORTER}},
                # The exporter's pods are of their node: its labels say whose GPUs they are.
                "attachMetadata": {"node": True},
                "podMetricsEndpoints": [
                    _endpoint(monitoring, _EXPORTER_PORT, relabelings=_phase_of_nodes(plan, "dcgm"))
                ],
            },
        )
    if monitoring.efa_exporter is not None:
        yield "efa", _efa(plan, monitoring, monitoring.efa_exporter)


def _efa(plan: DeploymentPlan, monitoring: MonitoringPlan, exporter: EfaExporterPlan) -> dict[str, Any]:
    # It is a whole node exporter: its other series are scraped by whoever wants them, and would be there twice.
    own = [{"sourceLabels": ["__name__"], "regex": f"{EFA_PREFIX}.+", "action": "keep"}]
    endpoint = _endpoint(
        monitoring, exporter.port_name, relabelings=_phase_of_nodes(plan, "efa"), metricRelabelings=own
    )
    return {
        "namespaceSelector": {"matchNames": [exporter.namespace]},
        "selector": {"matchLabels": exporter.pod_labels},
        "attachMetadata": {"node": True},
        "podMetricsEndpoints": [endpoint],
    }


def _endpoint(monitoring: MonitoringPlan, port: str, **rules: list[dict[str, Any]]) -> dict[str, Any]:
    return {"port": port, "path": _PATH, "interval": f"{monitoring.interval_seconds}s", **rules}


def _phase_of_pods(plan: DeploymentPlan) -> list[dict[str, Any]]:
    return [
        {"sourceLabels": [f"__meta_kubernetes_pod_label_{label_name(plan.role_label)}"], "targetLabel": PHASE_LABEL},
        {"targetLabel": SERVICE_LABEL, "replacement": plan.name},
    ]


def _phase_of_nodes(plan: DeploymentPlan, exporter: str) -> list[dict[str, Any]]:
    prefix = "__meta_kubernetes_node_label_"
    return [
        {
            "sourceLabels": [f"{prefix}{label_name(defaults.DEPLOYMENT_LABEL)}"],
            "regex": re.escape(plan.name),
            "action": "keep",
        },
        {"sourceLabels": [f"{prefix}{label_name(plan.role_label)}"], "targetLabel": PHASE_LABEL},
        {"targetLabel": SERVICE_LABEL, "replacement": plan.name},
        # Otherwise the exporter's: the rules of a deployment look for series of its own namespace.
        {"targetLabel": "namespace", "replacement": plan.namespace},
        # With all of these it would count as one of Ray's pods.
        {"targetLabel": EXPORTER_LABEL, "replacement": exporter},
    ]


def _only_own(plan: DeploymentPlan) -> list[dict[str, Any]]:
    """Keep what the operator says of this RayService and its clusters, each of which has its name and a suffix.

    Source: KubeRay 1.7.0 ray-operator/controllers/ray/utils/util.go, GenerateRayClusterName; Kubernetes' rand.String.
    """
    own = f"{re.escape(plan.namespace)};{re.escape(plan.name)}(-[bcdfghjklmnpqrstvwxz2456789]{{5}})?"
    return [{"sourceLabels": ["namespace", "name"], "regex": own, "action": "keep"}]


def label_name(key: str) -> str:
    """Return the key of a Kubernetes label as Prometheus writes it (strutil.SanitizeLabelName)."""
    return re.sub(r"[^a-zA-Z0-9_]", "_", key)
