"""The Kubernetes schema accepts a correct manifest and names the fault in a wrong one."""

from copy import deepcopy
from typing import Any

import pytest

from readers import kubernetes_schema

VERSION = "1.35"


@pytest.fixture
def pod() -> dict[str, Any]:
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "ports": [{"containerPort": 8080, "name": "http"}],
        "resources": {"limits": {"cpu": 1, "memory": "1Gi"}},
    }
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "example", "labels": {"app": "example"}},
        "spec": {"containers": [container], "nodeSelector": {"pool": "gpu"}},
    }


@pytest.mark.parametrize("version", ["1.32", "1.33", "1.34", "1.35", "1.36"])
def test_accepts_a_pod(pod: dict[str, Any], version: str) -> None:
    assert kubernetes_schema.violations(pod, version) == []


def test_accepts_grouped_kinds() -> None:
    policy = {
        "apiVersion": "networking.k8s.io/v1",
        "kind": "NetworkPolicy",
        "metadata": {"name": "example"},
        "spec": {"podSelector": {}, "policyTypes": ["Ingress"]},
    }
    assert kubernetes_schema.violations(policy, VERSION) == []


def test_refuses_an_unknown_pod_field(pod: dict[str, Any]) -> None:
    pod["spec"]["nodeSelectors"] = pod["spec"].pop("nodeSelector")
    (violation,) = kubernetes_schema.violations(pod, VERSION)
    assert violation.startswith("$.spec: ")
    assert "nodeSelectors" in violation


def test_refuses_an_unknown_container_field(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"][0]["imagePullPolice"] = "Always"
    (violation,) = kubernetes_schema.violations(pod, VERSION)
    assert violation.startswith("$.spec.containers[0]: ")
    assert "imagePullPolice" in violation


def test_refuses_a_wrong_type(pod: dict[str, Any]) -> None:
    pod["spec"]["containers"][0]["ports"][0]["containerPort"] = "8080"
    (violation,) = kubernetes_schema.violations(pod, VERSION)
    assert violation.startswith("$.spec.containers[0].ports[0].containerPort: ")


def test_refuses_a_missing_required_field(pod: dict[str, Any]) -> None:
    del pod["spec"]["containers"][0]["name"]
    expected = ["$.spec.containers[0]: 'name' is a required property"]
    assert kubernetes_schema.violations(pod, VERSION) == expected


def test_refuses_an_unknown_metadata_field(pod: dict[str, Any]) -> None:
    pod["metadata"]["label"] = {}
    (violation,) = kubernetes_schema.violations(pod, VERSION)
    assert violation.startswith("$.metadata: ")


def test_knows_fields_by_version(pod: dict[str, Any]) -> None:
    """A reader for one version must not answer for another: hostnameOverride came with 1.34."""
    pod["spec"]["hostnameOverride"] = "example"
    refused = [bool(kubernetes_schema.violations(pod, version)) for version in ("1.33", "1.34")]
    assert refused == [True, False]


@pytest.mark.parametrize("missing", ["apiVersion", "kind"])
def test_refuses_a_manifest_without_type(pod: dict[str, Any], missing: str) -> None:
    del pod[missing]
    assert kubernetes_schema.violations(pod, VERSION) == [f"$: '{missing}' is a required property"]


def test_has_no_verdict_on_a_custom_resource() -> None:
    cluster = {"apiVersion": "ray.io/v1", "kind": "RayCluster", "metadata": {"name": "example"}}
    with pytest.raises(LookupError, match=r"no schema for ray\.io/v1 RayCluster"):
        kubernetes_schema.violations(cluster, VERSION)


@pytest.mark.parametrize("version", ["1.99", "1.2", "2.0"])
def test_has_no_verdict_for_an_unknown_version(pod: dict[str, Any], version: str) -> None:
    with pytest.raises(LookupError, match="no schemas for Kubernetes"):
        kubernetes_schema.violations(pod, version)


def test_leaves_the_manifest_alone(pod: dict[str, Any]) -> None:
    before = deepcopy(pod)
    kubernetes_schema.violations(pod, VERSION)
    assert pod == before
