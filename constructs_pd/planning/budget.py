"""Disruption budgets: how many pods of each kind a node upgrade must leave."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from constructs_pd.planning.deployment_plan import BudgetPlan
from constructs_pd.planning.labels import role_labels
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import SinglePodBudget


class PodGroup(NamedTuple):
    """A kind of pod.

    Attributes:
        role: `head`, `prefill` or `decode`.
        replicas: Its pods.
        field: The field that decides what protects it when there is only one.
        single_pod_budget: What that field says.
    """

    role: str
    replicas: int
    field: str
    single_pod_budget: SinglePodBudget


def pod_groups(spec: DeploymentSpec) -> Iterator[PodGroup]:
    """Yield every kind of pod, the head first."""
    prefill, decode = spec.prefill, spec.decode
    kinds = (("head", 1, spec.head), ("prefill", prefill.replicas, prefill), ("decode", decode.replicas, decode))
    for role, replicas, stated in kinds:
        own = stated.single_pod_budget
        field = f"{role}.single_pod_budget" if own else "single_pod_budget"
        yield PodGroup(role, replicas, field, own or spec.single_pod_budget)


def budgets(spec: DeploymentSpec) -> Iterator[BudgetPlan]:
    """Yield a budget for each kind of pod; kinds of a single pod have one only where the user says so."""
    for group in pod_groups(spec):
        if group.replicas > 1 or group.single_pod_budget == "block":
            yield BudgetPlan(
                name=f"{spec.name}-{group.role}",
                selector_labels=role_labels(spec.name, group.role),
                min_available=max(1, group.replicas - 1),
            )
