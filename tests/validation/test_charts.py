"""The values that are set in charts, read by the charts: known, obeyed, and enough for the plan's nodes."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.planning.cluster_plan import ChartPlan
from readers import helm, kubernetes_schema
from support.both_halves import PHASES, Nodes, nodes
from support.new_cluster import plan_of, stacks_of
from support.specs import FOUR_GPU_ROW, VARIANTS, plan_with
from support.template import only, synthesized

pytestmark = pytest.mark.skipif(not helm.RUNS_HERE, reason="the CDK brings Helm for Linux on x86_64 only")

MONITORED = {"monitoring": {"scraping": "annotations", "dcgm_exporter": True}}
CHARTS = {chart.name: chart for chart in plan_with(MONITORED).charts}
# Kinds with no schema of Kubernetes' own.
CUSTOM = ("IngressClassParams",)


def test_there_are_five_charts_of_the_versions_that_are_published_here() -> None:
    assert sorted(CHARTS) == [
        "aws-efa-k8s-device-plugin",
        "aws-load-balancer-controller",
        "dcgm-exporter",
        "kuberay-operator",
        "nvidia-device-plugin",
    ]
    for chart in CHARTS.values():
        assert helm.published_version(chart) == chart.version


@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_every_value_is_one_that_the_chart_knows(chart: ChartPlan) -> None:
    assert list(helm.unknown(helm.values_of(chart), helm.published_values(chart))) == []


def leaves(values: dict[str, Any], path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    for name, value in values.items():
        yield from leaves(value, (*path, name)) if isinstance(value, dict) and value else [(*path, name)]


EVERY_VALUE = [(name, path) for name, chart in CHARTS.items() for path in leaves(helm.values_of(chart))]


@pytest.mark.parametrize(
    ("name", "path"), EVERY_VALUE, ids=lambda value: value if isinstance(value, str) else ".".join(value)
)
def test_every_value_is_noticed_when_it_is_misspelled_and_changes_what_helm_makes(
    name: str, path: tuple[str, ...]
) -> None:
    chart = CHARTS[name]
    values = helm.values_of(chart)
    misspelled = deepcopy(values)
    place = misspelled
    for key in path[:-1]:
        place = place[key]
    place[f"{path[-1]}x"] = place.pop(path[-1])
    empty_map = helm.published_values(chart)
    for key in path[:-1]:
        empty_map = empty_map[key]
    if empty_map:  # what a chart leaves empty takes any key, such as a label's
        assert list(helm.unknown(misspelled, helm.published_values(chart))) == [f"{'.'.join(path)}x"]
    if (name, path) in SAME_AS_THE_CHARTS:
        return
    try:
        made = without_secrets(helm.rendered(chart, misspelled))
    except helm.RefusedError:  # the chart cannot do without it
        return
    assert made != without_secrets(helm.rendered(chart, values))


# Stated although the chart would have the same, since it would not be so elsewhere.
SAME_AS_THE_CHARTS = {
    ("aws-efa-k8s-device-plugin", ("image", "repository")),  # of another region
    ("aws-load-balancer-controller", ("serviceAccount", "name")),  # of another release name
}


def without_secrets(manifests: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the objects without the certificates that a chart makes anew each time."""
    return [
        {key: value for key, value in found.items() if key not in ("data", "webhooks")}
        | {"webhooks": [{k: v for k, v in hook.items() if k != "clientConfig"} for hook in found.get("webhooks", [])]}
        for found in manifests
    ]


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
@pytest.mark.parametrize("chart", CHARTS.values(), ids=CHARTS)
def test_what_helm_makes_is_accepted_by_kubernetes(chart: ChartPlan, version: str) -> None:
    found = helm.rendered(chart, helm.values_of(chart), version)
    assert len(found) >= 1
    for manifest in found:
        if manifest["kind"] not in CUSTOM:
            assert kubernetes_schema.violations(manifest, version) == []


def daemon_set(plan: DeploymentPlan, name: str) -> dict[str, Any]:
    (chart,) = [chart for chart in plan.charts if chart.name == name]
    found = helm.rendered(chart, helm.values_of(chart))
    # NVIDIA's chart has one more, for nodes with a label that nobody sets.
    (plugin,) = [each for each in found if each["kind"] == "DaemonSet" and each["metadata"]["name"] == name]
    return dict(plugin["spec"]["template"]["spec"])


def runs_on(pod: dict[str, Any], labels: dict[str, str], taints: Any = frozenset()) -> bool:
    """Return whether a pod is placed on a node with these labels and taints, by Kubernetes' own rules."""
    required = pod.get("affinity", {}).get("nodeAffinity", {}).get("requiredDuringSchedulingIgnoredDuringExecution")
    terms = required["nodeSelectorTerms"] if required else []
    return (
        pod.get("nodeSelector", {}).items() <= labels.items()
        and (not terms or any(all(_matches(e, labels) for e in term["matchExpressions"]) for term in terms))
        and all(_is_tolerated(taint, pod.get("tolerations", [])) for taint in taints)
    )


def _matches(expression: dict[str, Any], labels: dict[str, str]) -> bool:
    value, listed = labels.get(expression["key"]), expression["values"]
    return value in listed if expression["operator"] == "In" else value not in listed


def _is_tolerated(taint: tuple[str, str, str], tolerations: list[dict[str, Any]]) -> bool:
    key, value, effect = taint
    return any(
        toleration.get("key") in (None, key)
        and toleration.get("effect") in (None, effect)
        and (toleration.get("operator") == "Exists" or toleration.get("value") == value)
        for toleration in tolerations
    )


PLUGINS = ("nvidia-device-plugin", "aws-efa-k8s-device-plugin", "dcgm-exporter")


def planned_nodes(plan: DeploymentPlan) -> list[Nodes]:
    template = synthesized(plan)
    return [nodes(template, phase, plan.availability_zone) for phase in PHASES]


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("plugin", PLUGINS)
def test_the_device_plugins_run_on_every_gpu_node(changes: dict[str, Any], plugin: str) -> None:
    plan = plan_with({**changes, **MONITORED, "network_policy": None})
    for group in planned_nodes(plan):
        assert runs_on(daemon_set(plan, plugin), group.labels, group.taints)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_the_device_plugins_do_not_run_on_system_nodes(plugin: str) -> None:
    plan = plan_of("reference", MONITORED)
    system = only(stacks_of(plan)["cluster"], "AWS::EKS::Nodegroup")
    labels = {**system["Labels"], "node.kubernetes.io/instance-type": system["InstanceTypes"][0]}
    assert not runs_on(daemon_set(plan, plugin), labels)


@pytest.mark.parametrize("plugin", PLUGINS)
def test_without_its_toleration_a_plugin_misses_the_gpu_nodes(plugin: str) -> None:
    plan = plan_with(MONITORED)
    pod = daemon_set(plan, plugin)
    pod["tolerations"] = []
    assert not any(runs_on(pod, group.labels, group.taints) for group in planned_nodes(plan))


def test_a_type_of_ones_own_gets_its_adapters() -> None:
    row = {**FOUR_GPU_ROW, "instance_type": "g9.12xlarge"}
    plan = plan_with({"custom_instances": [row], "decode.instance_type": "g9.12xlarge", "decode.tensor_parallel": 1})
    labels = {"node.kubernetes.io/instance-type": "g9.12xlarge", "nvidia.com/gpu.present": "true"}
    assert runs_on(daemon_set(plan, "aws-efa-k8s-device-plugin"), labels)
    assert not runs_on(daemon_set(plan_with(), "aws-efa-k8s-device-plugin"), labels)


def test_every_type_of_the_catalogue_is_one_that_the_published_chart_knows() -> None:
    chart = CHARTS["aws-efa-k8s-device-plugin"]
    ours = chart.values["supportedInstanceLabels"]
    assert isinstance(ours, dict)
    assert isinstance(ours["values"], list)
    assert len(ours["values"]) == 32
    assert set(ours["values"]) <= set(helm.published_values(chart)["supportedInstanceLabels"]["values"])


def test_the_plugin_for_adapters_comes_from_the_regions_own_registry() -> None:
    plan = plan_with({"region": "eu-south-2", "availability_zone": "eu-south-2a"})
    (container,) = daemon_set(plan, "aws-efa-k8s-device-plugin")["containers"]
    assert container["image"].startswith("455263428931.dkr.ecr.eu-south-2.amazonaws.com/eks/aws-efa-k8s-device-plugin:")


def test_no_webhook_answers_for_every_service() -> None:
    chart = CHARTS["aws-load-balancer-controller"]
    values = helm.values_of(chart)
    assert "services" not in asked_about(helm.rendered(chart, values))
    assert "ingresses" in asked_about(helm.rendered(chart, values))
    assert "services" in asked_about(helm.rendered(chart, {**values, "enableServiceMutatorWebhook": True}))


def asked_about(manifests: list[dict[str, Any]]) -> set[str]:
    """Return the kinds of objects about which the API server asks a webhook."""
    hooks = [hook for found in manifests for hook in found.get("webhooks", [])]
    return {kind for hook in hooks for rule in hook["rules"] for kind in rule["resources"]}


def test_the_controllers_pods_have_the_service_account_that_has_the_permissions() -> None:
    chart = CHARTS["aws-load-balancer-controller"]
    assert chart.permissions is not None
    found = helm.rendered(chart, helm.values_of(chart))
    (deployment,) = [each for each in found if each["kind"] == "Deployment"]
    assert deployment["spec"]["template"]["spec"]["serviceAccountName"] == chart.permissions.service_account
    assert deployment["metadata"]["namespace"] == chart.permissions.namespace
    arguments = deployment["spec"]["template"]["spec"]["containers"][0]["args"]
    assert {"--cluster-name=platform", "--aws-region=us-west-2", "--aws-vpc-id=vpc-0123456789abcdef0"} <= set(arguments)
