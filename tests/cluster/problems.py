"""What is wrong with a deployment in the control plane, by its live objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import suppress

from cluster.deployment import Deployment, is_bound
from cluster.kubectl import Object, wait_for
from cluster.nodes import DEPLOYMENT_LABEL, ROLE_LABEL, ZONE_LABELS
from constructs_pd.planning.deployment_plan import BudgetPlan

BUDGET_SECONDS = 8


def problems(deployment: Deployment) -> list[str]:
    """Return everything that is not as the plan has it."""
    kubectl = deployment.control_plane.kubectl
    nodes = {node["metadata"]["name"]: node for node in kubectl.list("nodes")}
    pods = deployment.pods()
    return [
        *_placement(deployment, pods, nodes),
        *_selectors(deployment, pods),
        *(f"API server: {warning}" for warning in kubectl.warnings),
        *(f"event: {warning}" for warning in deployment.warnings()),
        *(f"operator: {error}" for error in deployment.operator_errors()),
    ]


def _placement(deployment: Deployment, pods: list[Object], nodes: dict[str, Object]) -> Iterator[str]:
    roles = Counter(_role(pod) for pod in pods)
    expected = {"head": 1} | {phase.name: phase.replicas for phase in deployment.plan.phases}
    if roles != expected:
        yield f"pods: {dict(roles)}, planned {expected}"
    for pod in pods:
        name = pod["metadata"]["name"]
        if not is_bound(pod):
            yield f"{name}: not bound"
            continue
        labels = nodes[pod["spec"]["nodeName"]]["metadata"]["labels"]
        on = {"head": "system"}.get(_role(pod), _role(pod))
        if labels.get(ROLE_LABEL) != on:
            yield f"{name}: a {_role(pod)} pod on a {labels.get(ROLE_LABEL)} node"
        if _role(pod) != "head" and labels.get(DEPLOYMENT_LABEL) != deployment.plan.name:
            yield f"{name}: on a node of {labels.get(DEPLOYMENT_LABEL)}"
        if _role(pod) != "head" and deployment.plan.availability_zone not in [labels.get(key) for key in ZONE_LABELS]:
            yield f"{name}: on a node of another zone"
    workers = [pod["spec"]["nodeName"] for pod in pods if is_bound(pod) and _role(pod) != "head"]
    if len(set(workers)) < len(workers):
        yield f"{len(workers)} workers on {len(set(workers))} nodes"


def _selectors(deployment: Deployment, pods: list[Object]) -> Iterator[str]:
    """Compare what selects pods with the labels that the pods really have: budgets, services and policies."""
    kubectl, plan = deployment.control_plane.kubectl, deployment.plan
    with suppress(TimeoutError):  # budgets are counted a moment after the pods run
        wait_for("counted budgets", lambda: not list(_budgets(deployment, pods)), BUDGET_SECONDS)
    yield from _budgets(deployment, pods)
    for service in kubectl.list("services", deployment.namespace):
        name, selector = service["metadata"]["name"], service["spec"].get("selector")
        selected = {_role(pod) for pod in pods if selector and _matches(pod, selector)}
        job = plan.endpoint.conformance_job
        if selector and selected != {"decode" if job and name == job.metrics_service_name else "head"}:
            yield f"service {name}: selects {sorted(selected)} by {selector}"
        if not selector and service["spec"].get("externalName") != plan.endpoint.external_name:
            yield f"service {name}: leads to {service['spec'].get('externalName')}"
    for policy in kubectl.list("networkpolicies", deployment.namespace):
        if not any(_matches(pod, policy["spec"]["podSelector"].get("matchLabels", {})) for pod in pods):
            yield f"policy {policy['metadata']['name']}: selects no pod"


def _budgets(deployment: Deployment, pods: list[Object]) -> Iterator[str]:
    kubectl = deployment.control_plane.kubectl
    budgets = kubectl.list("poddisruptionbudgets", deployment.namespace)
    allowed = {budget.name: _allowed(deployment, budget) for budget in deployment.plan.budgets}
    if len(budgets) != len(deployment.plan.budgets):
        yield f"{len(budgets)} budgets, planned {len(deployment.plan.budgets)}"
    for budget in budgets:
        name, role = budget["metadata"]["name"], budget["metadata"]["name"].rpartition("-")[2]
        matched = {_role(pod) for pod in pods if _matches(pod, budget["spec"]["selector"]["matchLabels"])}
        count, status = sum(_role(pod) == role for pod in pods), budget.get("status", {})
        if matched != {role} or status.get("expectedPods") != count:
            yield f"budget {name}: {status.get('expectedPods')} pods of {sorted(matched)}, planned {count} {role}"
        if status.get("disruptionsAllowed") != allowed[name]:
            yield f"budget {name}: {status.get('disruptionsAllowed')} may go, planned {allowed[name]}"


def _allowed(deployment: Deployment, budget: BudgetPlan) -> int:
    """Return how many pods a disruption may take: of a head none, since it is not said to run."""
    role = budget.name.rpartition("-")[2]
    running = sum(phase.replicas for phase in deployment.plan.phases if phase.name == role)
    return max(0, running - budget.min_available)


def _matches(pod: Object, selector: dict[str, str]) -> bool:
    return bool(selector.items() <= pod["metadata"]["labels"].items())


def _role(pod: Object) -> str:
    role: str = pod["metadata"]["labels"][ROLE_LABEL]
    return role
