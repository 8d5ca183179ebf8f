"""What is wrong with a deployment in the control plane, by its live objects."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cluster.deployment import Deployment, is_bound
from cluster.kubectl import Object
from constructs_pd.planning.deployment_plan import BudgetPlan

ROLE = "constructs-pd/role"
ZONES = ("topology.kubernetes.io/zone", "topology.k8s.aws/zone-id")


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
        if labels.get(ROLE) != on:
            yield f"{name}: a {_role(pod)} pod on a {labels.get(ROLE)} node"
        if _role(pod) != "head" and labels["constructs-pd/deployment"] != deployment.plan.name:
            yield f"{name}: on a node of {labels['constructs-pd/deployment']}"
        if _role(pod) != "head" and deployment.plan.availability_zone not in [labels.get(key) for key in ZONES]:
            yield f"{name}: on a node of another zone"
    workers = [pod["spec"]["nodeName"] for pod in pods if is_bound(pod) and _role(pod) != "head"]
    if len(set(workers)) < len(workers):
        yield f"{len(workers)} workers on {len(set(workers))} nodes"


def _selectors(deployment: Deployment, pods: list[Object]) -> Iterator[str]:
    """Compare budgets' and services' selectors with the labels that the pods really have."""
    kubectl = deployment.control_plane.kubectl
    label = f"constructs-pd/deployment={deployment.plan.name}"
    budgets = kubectl.list("poddisruptionbudgets", deployment.namespace, label)
    allowed = {budget.name: _allowed(deployment, budget) for budget in deployment.plan.budgets}
    if len(budgets) != len(deployment.plan.budgets):
        yield f"{len(budgets)} budgets, planned {len(deployment.plan.budgets)}"
    for budget in budgets:
        name, role = budget["metadata"]["name"], budget["metadata"]["name"].rpartition("-")[2]
        matched = {_role(pod) for pod in pods if _matches(pod, budget["spec"]["selector"]["matchLabels"])}
        count = sum(_role(pod) == role for pod in pods)
        if matched != {role} or budget["status"]["expectedPods"] != count:
            yield f"budget {name}: {budget['status']['expectedPods']} pods of {sorted(matched)}, planned {count} {role}"
        if budget["status"]["disruptionsAllowed"] != allowed[name]:
            yield f"budget {name}: {budget['status']['disruptionsAllowed']} may go, planned {allowed[name]}"
    for cluster in deployment.clusters():
        service = kubectl.get("service", f"{cluster['metadata']['name']}-head-svc", deployment.namespace)
        if {_role(pod) for pod in pods if _matches(pod, service["spec"]["selector"])} != {"head"}:
            yield f"the head's service selects {service['spec']['selector']}"


def _allowed(deployment: Deployment, budget: BudgetPlan) -> int:
    """Return how many pods a disruption may take: of a head none, since it is not said to run."""
    role = budget.name.rpartition("-")[2]
    running = sum(phase.replicas for phase in deployment.plan.phases if phase.name == role)
    return max(0, running - budget.min_available)


def _matches(pod: Object, selector: dict[str, str]) -> bool:
    return bool(selector.items() <= pod["metadata"]["labels"].items())


def _role(pod: Object) -> str:
    role: str = pod["metadata"]["labels"][ROLE]
    return role
