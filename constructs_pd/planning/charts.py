"""The Helm charts that a deployment needs in its cluster, with the values that are set in them.

They are needed in a new cluster and in one that exists alike. docs/add_ons.md shows this as a table.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from constructs_pd.planning import defaults
from constructs_pd.planning.addons import GPU_TOLERATIONS, KUBE_SYSTEM
from constructs_pd.planning.cluster_plan import ChartPlan, PodPermissions
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.scraping import DCGM_PORT, scrape_annotations

DCGM_EXPORTER: Final = "dcgm-exporter"
EFA_PLUGIN: Final = "aws-efa-k8s-device-plugin"
KUBERAY_OPERATOR: Final = "kuberay-operator"
LOAD_BALANCER_CONTROLLER: Final = "aws-load-balancer-controller"
NVIDIA_PLUGIN: Final = "nvidia-device-plugin"

DCGM_NAMESPACE: Final = "dcgm-exporter"
KUBERAY_NAMESPACE: Final = "kuberay-system"
NVIDIA_NAMESPACE: Final = "nvidia-device-plugin"


def charts(facts: Facts) -> tuple[ChartPlan, ...]:
    """Return them, by name. The load balancer's controller is there where the endpoint has a balancer.

    NVIDIA's exporter of GPU metrics is there where monitoring asks for it.
    """
    found = [_efa_plugin(facts), _kuberay_operator(facts), _nvidia_plugin(facts)]
    if facts.spec.endpoint.exposure != "cluster":
        found.append(_load_balancer_controller(facts))
    if facts.spec.monitoring is not None and facts.spec.monitoring.dcgm_exporter:
        found.append(_dcgm_exporter(facts))
    return tuple(sorted(found, key=lambda chart: chart.name))


def _dcgm_exporter(facts: Facts) -> ChartPlan:
    label, value = defaults.GPU_PRESENT_LABEL
    values: dict[str, Any] = {
        "nodeSelector": {label: value},
        "tolerations": GPU_TOLERATIONS,
        # The chart's own monitor knows no phases, and without the operator's definitions the chart would be refused.
        "serviceMonitor": {"enabled": False},
    }
    if facts.spec.monitoring is not None and facts.spec.monitoring.scraping == "annotations":
        values["podAnnotations"] = scrape_annotations(DCGM_PORT)
    return _chart(facts, DCGM_EXPORTER, DCGM_NAMESPACE, values)


def _efa_plugin(facts: Facts) -> ChartPlan:
    stated = {phase.spec.instance_type for phase in facts.phases}
    values: dict[str, Any] = {
        "tolerations": GPU_TOLERATIONS,
        # The list replaces the chart's own as a whole; a type that is missing gets no adapter, in silence.
        "supportedInstanceLabels": {"values": sorted({*facts.built_in.instances, *stated})},
    }
    registry = facts.catalog.eks_registries.get(facts.spec.region)
    if registry is not None:
        values["image"] = {"repository": registry.repository("eks/aws-efa-k8s-device-plugin")}
    return _chart(facts, EFA_PLUGIN, KUBE_SYSTEM, values)


def _kuberay_operator(facts: Facts) -> ChartPlan:
    # A release of the chart is one of the operator, and has its custom resource definitions.
    chart = _chart(facts, KUBERAY_OPERATOR, KUBERAY_NAMESPACE, {})
    return chart.model_copy(update={"version": facts.spec.kuberay_version})


def _nvidia_plugin(facts: Facts) -> ChartPlan:
    label, value = defaults.GPU_PRESENT_LABEL
    return _chart(
        facts, NVIDIA_PLUGIN, NVIDIA_NAMESPACE, {"nodeSelector": {label: value}, "tolerations": GPU_TOLERATIONS}
    )


def _load_balancer_controller(facts: Facts) -> ChartPlan:
    permissions = PodPermissions(
        namespace=KUBE_SYSTEM,
        service_account=LOAD_BALANCER_CONTROLLER,
        policy_file=f"{LOAD_BALANCER_CONTROLLER}-{facts.catalog.charts[LOAD_BALANCER_CONTROLLER].version}.json",
    )
    values: dict[str, Any] = {
        "region": facts.spec.region,
        "serviceAccount": {"name": LOAD_BALANCER_CONTROLLER},
        "podDisruptionBudget": {"maxUnavailable": 1},
        # Its webhook would answer for every Service of the cluster, and refuse them all while it is not there.
        "enableServiceMutatorWebhook": False,
    }
    return _chart(
        facts,
        LOAD_BALANCER_CONTROLLER,
        KUBE_SYSTEM,
        values,
        {"clusterName": "cluster_name", "vpcId": "vpc_id"},
        permissions,
    )


def _chart(
    facts: Facts,
    name: str,
    namespace: str,
    values: dict[str, Any],
    cluster_values: dict[str, Literal["cluster_name", "vpc_id"]] | None = None,
    permissions: PodPermissions | None = None,
) -> ChartPlan:
    row = facts.catalog.charts[name]
    return ChartPlan(
        name=name,
        version=row.version,
        repository=row.repository,
        namespace=namespace,
        values=values,
        cluster_values=cluster_values or {},
        timeout_minutes=defaults.CHART_TIMEOUT_MINUTES,
        permissions=permissions,
    )
