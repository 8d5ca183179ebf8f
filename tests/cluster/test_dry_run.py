"""Every manifest and every chart, tried on the server's side: nothing is made, and a deprecation is a failure."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.conftest import DISPOSABLE, RUN
from cluster.control_plane import ControlPlane
from cluster.kubectl import Object
from constructs_pd import DeploymentPlan, plan_file
from constructs_pd.planning.cluster_plan import ChartPlan
from readers import helm
from support.new_cluster import CHANGES as NEW_CLUSTERS
from support.new_cluster import plan_of
from support.rendered import as_written, monitoring_of
from support.specs import EXISTING_FILE, REFERENCE_FILE, ROOT, VARIANTS, plan_with

DEFINITIONS = ROOT / "tests" / "readers" / "data" / "prometheus-operator-0.93.0"
APPS = {path.name: plan_file(path) for path in (REFERENCE_FILE, EXISTING_FILE)}
# Every deployment that the renderers' tests read.
PLANS: dict[str, DeploymentPlan] = {
    **APPS,
    **{name: plan_with(changes) for name, changes in VARIANTS.items()},
    **{f"new cluster, {name}": plan_of(name) for name in NEW_CLUSTERS},
}
CHARTS = {chart.name: chart for plan in PLANS.values() for chart in plan.charts}
CLUSTER_WIDE = (
    "ClusterRole",
    "ClusterRoleBinding",
    "CustomResourceDefinition",
    "IngressClass",
    "MutatingWebhookConfiguration",
    "ValidatingWebhookConfiguration",
)
# The charts here are without their definitions, so the server knows nothing of this kind.
UNKNOWN = ("IngressClassParams",)


def manifests_of(plan: DeploymentPlan) -> list[Object]:
    return [*as_written(plan), *monitoring_of(plan)]


def namespaces(objects: list[Object]) -> set[str]:
    """Return the namespaces that objects stand in or make."""
    found = {each["metadata"]["namespace"] for each in objects if "namespace" in each["metadata"]}
    return found | {each["metadata"]["name"] for each in objects if each["kind"] == "Namespace"}


@pytest.fixture(scope="module")
def rendered(live: ControlPlane) -> Iterator[dict[str, list[Object]]]:
    """Every manifest, where the namespaces and definitions are there that it needs."""
    if DISPOSABLE:
        pytest.skip("nothing of a cluster that is not ours is replaced, were it only on trial")
    found = {name: manifests_of(plan) for name, plan in PLANS.items()}
    if helm.RUNS_HERE:
        found |= {name: _of_chart(chart, live.kubernetes) for name, chart in CHARTS.items()}
    needed = {name for objects in found.values() for name in namespaces(objects)} - {"default", "kube-system"}
    live.kubectl.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in sorted(needed))
    live.kubectl.apply_file(DEFINITIONS)
    live.kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    yield found
    live.kubectl.run("delete", "-f", str(DEFINITIONS))
    live.kubectl.run("delete", "namespace", *sorted(needed), "--wait=false")


def _of_chart(chart: ChartPlan, kubernetes: str) -> list[Object]:
    objects = [each for each in helm.rendered(chart, helm.values_of(chart), kubernetes) if each["kind"] not in UNKNOWN]
    for each in objects:
        # As `helm install` does with what a chart leaves open.
        if each["kind"] not in CLUSTER_WIDE:
            each["metadata"].setdefault("namespace", chart.namespace)
    return objects


def tried(live: ControlPlane, objects: list[Object]) -> list[str]:
    """Return what the server warns of when it tries them."""
    live.kubectl.warnings.clear()
    live.kubectl.apply(objects, "--dry-run=server")
    return live.kubectl.warnings


@pytest.mark.parametrize("name", PLANS)
def test_a_deployment_is_accepted_without_a_warning(
    live: ControlPlane, rendered: dict[str, list[Object]], name: str
) -> None:
    assert len(rendered[name]) >= 6
    assert tried(live, rendered[name]) == []


@pytest.mark.skipif(not helm.RUNS_HERE, reason="the CDK brings Helm for Linux on x86_64 only")
@pytest.mark.parametrize("name", CHARTS)
def test_a_chart_is_accepted_without_a_warning(
    live: ControlPlane, rendered: dict[str, list[Object]], name: str
) -> None:
    assert rendered[name]
    assert tried(live, rendered[name]) == []


def test_all_five_charts_are_tried() -> None:
    assert sorted(CHARTS) == [
        "aws-efa-k8s-device-plugin",
        "aws-load-balancer-controller",
        "dcgm-exporter",
        "kuberay-operator",
        "nvidia-device-plugin",
    ]


def test_a_planted_deprecation_is_noticed(live: ControlPlane) -> None:
    old = {"kubernetes.io/ingress.class": "alb"}
    ingress = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "Ingress",
        "metadata": {"name": f"old-{RUN}", "namespace": "default", "annotations": old},
        "spec": {"defaultBackend": {"service": {"name": "s", "port": {"number": 80}}}},
    }
    (warning,) = tried(live, [ingress])
    assert 'annotation "kubernetes.io/ingress.class" is deprecated' in warning


def test_nothing_of_a_trial_is_made(live: ControlPlane, rendered: dict[str, list[Object]]) -> None:
    here = {name for objects in rendered.values() for name in namespaces(objects)}
    made = [each for each in live.kubectl.list("rayservices") if each["metadata"]["namespace"] in here]
    assert made == []
