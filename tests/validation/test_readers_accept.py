"""Everything that is rendered, read by the programs that will read it in the cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from constructs_pd import RayLlmCluster
from constructs_pd.planning.catalog import load_catalog
from readers import custom_resource, kubernetes_schema, ray_serve
from support.rendered import Manifest, chart, kinds, only, synthesized, whole_deployment
from support.specs import VARIANTS, plan_with

BUILT_IN = {"Namespace", "ServiceAccount", "Service"}


@pytest.fixture(scope="module", params=list(VARIANTS.values()), ids=list(VARIANTS))
def manifests(request: pytest.FixtureRequest) -> list[Manifest]:
    return whole_deployment(plan_with(request.param))


def pod_templates(cluster_spec: dict[str, Any]) -> list[dict[str, Any]]:
    groups = [cluster_spec["headGroupSpec"], *cluster_spec["workerGroupSpecs"]]
    return [group["template"] for group in groups]


@pytest.mark.parametrize("version", load_catalog().kubernetes)
def test_kubernetes_accepts_every_object_of_its_own_kinds(manifests: list[Manifest], version: str) -> None:
    own = [manifest for manifest in manifests if manifest["apiVersion"] != "ray.io/v1"]
    assert set(kinds(own)) >= BUILT_IN
    for manifest in own:
        assert kubernetes_schema.violations(manifest, version) == []


@pytest.mark.parametrize("version", load_catalog().kubernetes)
def test_kubernetes_accepts_every_pod_template(manifests: list[Manifest], version: str) -> None:
    templates = pod_templates(only(manifests, "RayService")["spec"]["rayClusterConfig"])
    assert len(templates) == 3
    for template in templates:
        pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", **template["metadata"]}}
        assert kubernetes_schema.violations({**pod, "spec": template["spec"]}, version) == []


def test_kuberay_accepts_the_ray_service(manifests: list[Manifest], kuberay_crd_directory: Path) -> None:
    assert custom_resource.violations(only(manifests, "RayService"), kuberay_crd_directory) == []


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_kuberay_accepts_the_ray_cluster_alone(changes: dict[str, Any], kuberay_crd_directory: Path) -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with(changes))
    assert custom_resource.violations(only(synthesized(scope), "RayCluster"), kuberay_crd_directory) == []


def test_ray_builds_the_serve_application(manifests: list[Manifest]) -> None:
    config = only(manifests, "RayService")["spec"]["serveConfigV2"]
    deployments = ray_serve.build(config)
    assert [deployment.name.split(":")[0] for deployment in deployments] == ["Prefill", "Decode", "OpenAiIngress"]
    assert [deployment.is_ingress for deployment in deployments] == [False, False, True]
    assert all(deployment.num_replicas for deployment in deployments)


def test_ray_knows_every_key_of_the_serve_config(manifests: list[Manifest]) -> None:
    assert ray_serve.unknown_keys(only(manifests, "RayService")["spec"]["serveConfigV2"]) == []
