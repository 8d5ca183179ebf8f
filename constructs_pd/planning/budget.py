"""Disruption budgets: how many pods of each kind a node upgrade must leave."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.deployment_plan import BudgetPlan
from constructs_pd.planning.labels import role_labels
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import SinglePodBudget


def single_pods(spec: DeploymentSpec) -> dict[str, SinglePodBudget]:
    """Return what protects each kind of pod of which there is only one."""
    kinds = (
        ("head", 1, spec.head),
        ("prefill", spec.prefill.replicas, spec.prefill),
        ("decode", spec.decode.replicas, spec.decode),
    )
    return {
        role: stated.single_pod_budget or spec.single_pod_budget for role, replicas, stated in kinds if replicas == 1
    }


def budgets(spec: DeploymentSpec) -> Iterator[BudgetPlan]:
    """Yield a budget for each kind of pod; kinds of a single pod have one only where the user says so."""
    single = single_pods(spec)
    for role, replicas in (("head", 1), ("prefill", spec.prefill.replicas), ("decode", spec.decode.replicas)):
        if replicas > 1 or single[role] == "block":
            yield BudgetPlan(
                name=f"{spec.name}-{role}",
                selector_labels=role_labels(spec.name, role),
                min_available=max(1, replicas - 1),
            )
