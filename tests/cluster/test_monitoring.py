"""Monitoring in a cluster without and with the definitions of the Prometheus operator."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from cluster.conftest import DISPOSABLE, RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_as_written
from cluster.kubectl import Object, RefusedError
from cluster.problems import problems
from support.changes import GATEWAY, Changes
from support.rendered import kinds, monitoring_of
from support.specs import ROOT, VARIANTS, plan_with
from support.template import synthesized

DEFINITIONS = ROOT / "tests" / "readers" / "data" / "prometheus-operator-0.93.0"
# kubectl's words, and the server's where kubectl remembers definitions that an earlier test had there.
NO_DEFINITION = 'no matches for kind "PodMonitor"|could not find the requested resource .patch podmonitors'
EVERYTHING: Changes = {
    "monitoring": VARIANTS["every-option"]["monitoring"],
    "slo": VARIANTS["every-option"]["slo"],
    "endpoint.gateway": GATEWAY,
}
ANNOTATED: Changes = {"monitoring": {"scraping": "annotations", "dashboards": {}}, "slo": {"ttft_p95_seconds": 2.0}}


def deployment(live: ControlPlane, name: str, changes: Changes) -> Deployment:
    name = f"{name}-{RUN}"
    return deployment_as_written(plan_with({**changes, "model_cache": None, "name": name, "namespace": name}), live)


@pytest.fixture
def definitions(live: ControlPlane) -> Iterator[None]:
    """The Prometheus operator's definitions, while a test is about them."""
    if DISPOSABLE:
        pytest.skip("a cluster that is not ours keeps the definitions that it has")
    live.kubectl.apply_file(DEFINITIONS)
    live.kubectl.run("wait", "--for=condition=Established", "crd", "--all", "--timeout=60s")
    yield
    live.kubectl.run("delete", "-f", str(DEFINITIONS))


def test_without_the_definitions_all_but_the_monitors_is_accepted(live: ControlPlane) -> None:
    if DISPOSABLE:
        pytest.skip("a cluster that is not ours may have the definitions")
    made = deployment(live, "unmonitored", EVERYTHING)
    monitoring = monitoring_of(made.plan)
    try:
        live.kubectl.warnings.clear()
        live.kubectl.apply(made.manifests)
        assert live.kubectl.warnings == []
        with pytest.raises(RefusedError, match=NO_DEFINITION):
            live.kubectl.apply(monitoring)
        # Dashboards are ConfigMaps, which the server took beside what it refused.
        maps = {each["metadata"]["name"] for each in live.kubectl.list("configmaps", made.namespace)}
        assert {each["metadata"]["name"] for each in monitoring if each["kind"] == "ConfigMap"} <= maps
    finally:
        made.remove()


def test_with_annotations_nothing_needs_the_definitions(live: ControlPlane) -> None:
    made = deployment(live, "annotated", ANNOTATED)
    try:
        live.kubectl.warnings.clear()
        live.kubectl.apply(made.manifests)
        live.kubectl.apply(monitoring_of(made.plan))
        assert live.kubectl.warnings == []
        assert set(kinds(monitoring_of(made.plan))) == {"ConfigMap"}
    finally:
        made.remove()


@pytest.mark.usefixtures("definitions")
def test_with_the_definitions_the_monitors_find_the_live_pods(live: ControlPlane) -> None:
    made = deployment(live, "monitored", EVERYTHING)
    made.template = synthesized(made.plan)
    monitoring = monitoring_of(made.plan)
    try:
        live.kubectl.warnings.clear()
        made.register_nodes()
        live.kubectl.apply(made.manifests)
        live.kubectl.apply(monitoring)
        made.wait_for_pods()
        assert problems(made) == []
        monitors = {each["metadata"]["name"]: each for each in live.kubectl.list("podmonitors", made.namespace)}
        assert len(monitors) == kinds(monitoring).count("PodMonitor") == 4
        ray = monitors[f"{made.plan.name}-ray"]
        pods = _selected(made, ray)
        assert sorted(pod["metadata"]["labels"]["constructs-pd/role"] for pod in pods) == ["decode", "head", "prefill"]
        (endpoint,) = ray["spec"]["podMetricsEndpoints"]
        for pod in pods:
            ports = {port["name"] for each in pod["spec"]["containers"] for port in each.get("ports", [])}
            assert endpoint["port"] in ports
        rules = live.kubectl.list("prometheusrules", made.namespace)
        assert len(rules) == kinds(monitoring).count("PrometheusRule") == 1
    finally:
        made.remove()


def _selected(made: Deployment, monitor: Object) -> list[Object]:
    """Return the pods that the API server finds by a monitor's selector."""
    selector = monitor["spec"]["selector"]
    terms = [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]
    for each in selector.get("matchExpressions", []):
        terms.append(f"{each['key']} {each['operator'].lower()} ({','.join(each['values'])})")
    return made.control_plane.kubectl.list("pods", monitor["metadata"]["namespace"], ",".join(terms))
