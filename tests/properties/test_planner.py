"""Properties of the planner and of what is rendered, over the space of specifications."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given

from constructs_pd import DeploymentPlan, DeploymentSpec, PlanError, Severity, plan, plan_file
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.resolve import examine
from constructs_pd.planning.timeouts import chain
from support.strategies import specifications
from support.strategies_runs import examples, planned
from support.strategies_sound import mixed_specifications, sound_specifications


def attempt(planner: Callable[[Any], DeploymentPlan], argument: object) -> DeploymentPlan | PlanError:
    try:
        return planner(argument)
    except PlanError as error:
        return error


@examples(150)
@given(specifications | mixed_specifications())
def test_a_plan_satisfies_every_rule_or_is_refused_with_findings(data: dict[str, Any]) -> None:
    spec = DeploymentSpec.model_validate(data)
    findings = examine(gather(spec, load_catalog()))
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    outcome = attempt(plan, spec)
    assert outcome.findings == findings
    assert isinstance(outcome, PlanError) == bool(errors)


@examples(100)
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


@examples(60)
@given(sound_specifications())
def test_pods_fit_their_nodes_and_every_replica_has_a_place(data: dict[str, Any]) -> None:
    spec = DeploymentSpec.model_validate(data)
    result = planned(data)
    for phase in result.phases:
        row = load_catalog().extended_by(spec).instances[phase.nodes.instance_type]
        assert 0 < phase.cpu_cores * 1000 < row.allocatable_cpu_millicores
        assert 0 < phase.memory_gib * 1024 < row.allocatable_memory_mib
        assert (phase.gpus_per_node, phase.efa_per_node) == (row.gpu.count, row.efa.interfaces)
        assert phase.object_store_gib < phase.shared_memory_gib < phase.memory_gib
    replicas = {"head": 1} | {phase.name: phase.replicas for phase in result.phases}
    roles = [budget.name.removeprefix(f"{result.name}-") for budget in result.budgets]
    assert all(0 < budget.min_available <= replicas[role] for budget, role in zip(result.budgets, roles, strict=True))
    assert all(link.missing_seconds <= 0 for link in chain(result.timeouts))
