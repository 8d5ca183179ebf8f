"""Whatever plans is rendered into what every validator accepts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from hypothesis import given

from constructs_pd import (
    DeploymentPlan,
    DeploymentSpec,
    OpenAIEndpoint,
    PlanError,
    PrefillDecodeService,
    RayLlmCluster,
    plan,
)
from constructs_pd.manifests.ray_service import ray_service_spec
from readers import cfn_lint, custom_resource, kubernetes_schema, ray_serve
from support.both_halves import disagreements
from support.ray_nodes import place, ray_nodes
from support.rendered import Manifest, chart, only, synthesized, whole_deployment
from support.strategies import specifications
from support.strategies_runs import examples, planned
from support.strategies_sound import mixed_specifications, sound_specifications
from support.template import synthesized as template_of_nodes


def rendered(plan: DeploymentPlan) -> list[Manifest]:
    """Return all four constructs, without the Namespace where every cluster has it already."""
    if plan.namespace != "default":
        return whole_deployment(plan)
    scope = chart()
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    service = PrefillDecodeService(scope, "service", plan=plan, cluster=cluster)
    OpenAIEndpoint(scope, "endpoint", plan=plan, service=service)
    return synthesized(scope)


def assert_every_validator_accepts(data: dict[str, Any], plan: DeploymentPlan, crds: Path) -> None:
    manifests = rendered(plan)
    for manifest in manifests:
        if manifest["apiVersion"] == "ray.io/v1":
            assert custom_resource.violations(manifest, crds) == []
        else:
            assert kubernetes_schema.violations(manifest, plan.versions.kubernetes) == []
        assert manifest["metadata"].get("labels", {}).items() >= expected_labels(manifest, plan).items()
    service = only(manifests, "RayService")["spec"]
    assert service == ray_service_spec(plan)
    deployments = ray_serve.build(service["serveConfigV2"])
    assert ray_serve.unknown_keys(service["serveConfigV2"]) == []
    assert place(deployments, ray_nodes(service["rayClusterConfig"])).pending == []
    template = template_of_nodes(plan)
    # cfn-lint knows the types with an on-demand price: not all that Capacity Blocks have, none of the user's own.
    assert [found for found in cfn_lint.findings(template, plan.region) if not found.startswith("E3628")] == []
    brought = {row["instance_type"] for row in data.get("custom_instances", [])}
    if not brought & {phase.nodes.instance_type for phase in plan.phases}:
        assert disagreements(template, manifests, plan.availability_zone) == []


def expected_labels(manifest: Manifest, plan: DeploymentPlan) -> dict[str, str]:
    return {} if manifest["kind"] == "Namespace" else plan.labels


@examples(12)
@given(sound_specifications())
def test_every_validator_accepts_what_is_sound(kuberay_crd_directory: Path, data: dict[str, Any]) -> None:
    assert_every_validator_accepts(data, planned(data), kuberay_crd_directory)


@examples(7)
@given(mixed_specifications())
def test_every_validator_accepts_what_plans_with_hostile_fields(
    kuberay_crd_directory: Path, data: dict[str, Any]
) -> None:
    assert_every_validator_accepts(data, planned(data), kuberay_crd_directory)


@examples(200)
@given(specifications)
def test_every_validator_accepts_the_few_hostile_ones_that_plan(
    kuberay_crd_directory: Path, data: dict[str, Any]
) -> None:
    try:
        result = plan(DeploymentSpec.model_validate(data))
    except PlanError:
        return
    assert_every_validator_accepts(data, result, kuberay_crd_directory)
