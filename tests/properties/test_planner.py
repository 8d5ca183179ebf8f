"""Properties of the planner and of what is rendered, over the space of specifications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings

from constructs_pd import DeploymentPlan, DeploymentSpec, PlanError, Severity, plan, plan_file
from constructs_pd.manifests.ray_service import ray_service_spec
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.resolve import examine
from readers import custom_resource, kubernetes_schema, ray_serve
from support.ray_nodes import place, ray_nodes
from support.rendered import only, whole_deployment
from support.strategies import sound_specifications, specifications

# One fixed sequence of examples: a gate must not fail on one day and pass on the next.
SETTINGS = settings(deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def attempt(planner: Callable[[Any], DeploymentPlan], argument: object) -> DeploymentPlan | PlanError:
    try:
        return planner(argument)
    except PlanError as error:
        return error


@settings(SETTINGS, max_examples=400)
@given(specifications)
def test_a_plan_satisfies_every_rule_or_is_refused_with_findings(data: dict[str, Any]) -> None:
    spec = DeploymentSpec.model_validate(data)
    findings = examine(gather(spec, load_catalog()))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    outcome = attempt(plan, spec)
    assert outcome.findings == findings
    assert isinstance(outcome, PlanError) == bool(errors)


@settings(SETTINGS, max_examples=150)
@given(specifications)
def test_a_file_has_the_same_outcome_with_a_place_for_each_finding(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, Any]
) -> None:
    path = tmp_path_factory.getbasetemp() / "property.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    from_file, from_values = attempt(plan_file, path), attempt(plan, DeploymentSpec.model_validate(data))
    assert type(from_file) is type(from_values)
    assert tuple(replace(finding, location=None) for finding in from_file.findings) == from_values.findings
    assert all((finding.location or "").startswith(str(path)) for finding in from_file.findings)


@settings(SETTINGS, max_examples=150)
@given(sound_specifications())
def test_pods_fit_their_nodes_and_every_replica_has_a_place(data: dict[str, Any]) -> None:
    planned = plan(DeploymentSpec.model_validate(data))
    for phase in planned.phases:
        row = load_catalog().instances[phase.instance_type]
        assert 0 < phase.cpu_cores * 1000 < row.allocatable_cpu_millicores
        assert 0 < phase.memory_gib * 1024 < row.allocatable_memory_mib
        assert (phase.gpus_per_node, phase.efa_per_node) == (row.gpu.count, row.efa.interfaces)
        assert phase.object_store_gib < phase.shared_memory_gib < phase.memory_gib
    replicas = {"head": 1} | {phase.name: phase.replicas for phase in planned.phases}
    roles = [budget.name.removeprefix(f"{planned.name}-") for budget in planned.budgets]
    assert all(0 < budget.min_available <= replicas[role] for budget, role in zip(planned.budgets, roles, strict=True))
    assert planned.timeouts.replica_shutdown_seconds < planned.timeouts.node_drain_seconds
    assert planned.timeouts.node_drain_seconds < planned.timeouts.termination_grace_seconds


@settings(SETTINGS, max_examples=40)
@given(sound_specifications())
def test_what_is_rendered_passes_all_validators(kuberay_crd_directory: Path, data: dict[str, Any]) -> None:
    planned = plan(DeploymentSpec.model_validate(data))
    manifests = whole_deployment(planned)
    for manifest in manifests:
        if manifest["apiVersion"] == "ray.io/v1":
            assert custom_resource.violations(manifest, kuberay_crd_directory) == []
        else:
            assert kubernetes_schema.violations(manifest, planned.versions.kubernetes) == []
    service = only(manifests, "RayService")["spec"]
    assert service == ray_service_spec(planned)
    deployments = ray_serve.build(service["serveConfigV2"])
    assert ray_serve.unknown_keys(service["serveConfigV2"]) == []
    assert place(deployments, ray_nodes(service["rayClusterConfig"])).pending == []
