"""Every key of monitoring's objects, misspelled one at a time: a schema or a counterpart must notice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from readers import custom_resource, kubernetes_schema
from support.keys import key_paths, unnoticed
from support.rendered import Manifest, monitoring_of
from support.specs import plan_with

CRDS = Path(__file__).parents[1] / "readers" / "data" / "prometheus-operator-0.93.0"
PROMISED = {"slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05, "availability": 0.999}}
RULE_LABELS = {"severity", "namespace", "ray_service", "phase", "quantile", "part", "reason", "kind"}
ANNOTATIONS = {"summary", "description", "runbook_url"}
#: Labels of the pods of KubeRay's operator and of the DCGM exporter, from their charts.
OTHERS = {
    "operator": {"app.kubernetes.io/name": "kuberay-operator"},
    "gpus": {"app.kubernetes.io/name": "dcgm-exporter"},
    "efa": {"app.kubernetes.io/name": "prometheus-node-exporter", "app.kubernetes.io/instance": "efa-node-exporter"},
}
#: Grafana's sidecar as a chart configures it: the label that it looks for, and the annotation.
SIDECAR_LABELS = {"grafana_dashboard": "1"}
SIDECAR_ANNOTATION = "k8s-sidecar-target-directory"


@pytest.fixture(scope="module", params=["pod_monitors", "annotations"])
def plan(request: pytest.FixtureRequest) -> DeploymentPlan:
    monitors = {"labels": {"release": "stack"}, "efa_exporter": {"namespace": "monitoring"}}
    stated = {"scraping": request.param, "dcgm_exporter": True, "dashboards": {"folder": "Serving"}}
    return plan_with({"monitoring": {**stated, **(monitors if request.param == "pod_monitors" else {})}, **PROMISED})


def mistakes(manifest: Manifest, plan: DeploymentPlan) -> Iterator[str]:
    """Yield what is wrong with one object."""
    assert plan.monitoring is not None
    metadata = manifest.get("metadata", {})
    if "-dashboard-" in str(metadata.get("name")):
        yield from _dashboard(manifest, plan)
        return
    yield from set(metadata.get("labels", {})) ^ {*plan.labels, *plan.monitoring.labels}
    yield from {"name", "namespace"} - set(metadata)
    if manifest["kind"] == "ConfigMap":
        yield from kubernetes_schema.violations(manifest, "1.35")
        yield from {key for key in manifest.get("data", {}) if not key.endswith(".rules.yaml")}
        return
    yield from custom_resource.violations(manifest, CRDS)
    spec = manifest.get("spec", {})
    yield from _monitor(str(metadata.get("name")), spec, plan) if manifest["kind"] == "PodMonitor" else _rules(spec)


def _dashboard(manifest: Manifest, plan: DeploymentPlan) -> Iterator[str]:
    metadata = manifest["metadata"]
    yield from set(metadata.get("labels", {})) ^ {*plan.labels, *SIDECAR_LABELS}
    yield from set(metadata.get("annotations", {})) ^ {SIDECAR_ANNOTATION}
    yield from {"name", "namespace"} - set(metadata)
    yield from kubernetes_schema.violations(manifest, "1.35")
    # Grafana's provider reads no other files.
    yield from {key for key in manifest.get("data", {}) if not key.endswith(".json")}


def _monitor(name: str, spec: dict[str, Any], plan: DeploymentPlan) -> Iterator[str]:
    whose = name.removeprefix(f"{plan.name}-")
    selected = OTHERS.get(whose, plan.decode.pod_labels)
    selector = spec.get("selector", {}).get("matchLabels", {})
    if not selector or not selector.items() <= selected.items():
        yield f"{name} selects no pod"
    if whose in OTHERS and "namespaceSelector" not in spec:
        yield f"{name} looks in its own namespace"


def _rules(spec: dict[str, Any]) -> Iterator[str]:
    for rule in (rule for group in spec.get("groups", []) for rule in group.get("rules", [])):
        yield from set(rule.get("labels", {})) - RULE_LABELS
        yield from set(rule.get("annotations", {})) - ANNOTATIONS


def test_what_is_rendered_has_no_mistake(plan: DeploymentPlan) -> None:
    manifests = monitoring_of(plan)
    assert manifests
    for manifest in manifests:
        assert list(mistakes(manifest, plan)) == []


def test_no_misspelled_key_goes_unnoticed(plan: DeploymentPlan) -> None:
    for manifest in monitoring_of(plan):
        assert sum(1 for _ in key_paths(manifest)) > 5

        def check(changed: Manifest) -> list[str]:
            if {"kind", "apiVersion"} - set(changed):
                return ["kubectl refuses an object without a kind"]
            return list(mistakes(changed, plan))

        assert unnoticed(manifest, check) == []
