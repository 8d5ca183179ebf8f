"""What waits after a loss and what the budgets then let go, as tests/data/control_plane/losses.yaml says.

All losses are there at once, each on nodes of its own. A pod of a node that was removed goes when Kubernetes notices,
which takes it up to a minute.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from functools import partial

import pytest

from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import NOT_LOOKED_AT, Deployment, deployment_of, is_bound, is_head, reason_to_wait, remove_all
from cluster.kubectl import Object, wait_for
from cluster.kubelet import start
from cluster.nodes import ROLE_LABEL, ZONE_LABELS, decoys, gpu_nodes, system_node, system_nodes
from cluster.ready import make_secrets
from constructs_pd.planning import defaults
from support.both_halves import PHASES
from support.losses import LOSSES, Loss
from support.new_cluster import stacks_of

NOTICED_SECONDS = 150
Cases = dict[str, Deployment]


@pytest.fixture(scope="module")
def cases(live: ControlPlane) -> Iterator[Cases]:
    """Every deployment with what it lacks from the start, and then without what it loses."""
    if live.dashboards is None:
        pytest.skip("KWOK of a cluster that is not ours starts heads at once")
    made = {loss.loss: deployment_of(loss.planned(f"loss-{RUN}-{number}"), live) for number, loss in enumerate(LOSSES)}
    losses = {loss.loss: loss for loss in LOSSES}
    nodes = {name: _nodes(losses[name], each) for name, each in made.items()}
    try:
        first, *_ = made.values()
        first.nodes = [node for found in nodes.values() for node in found]
        first.register_nodes()
        for each in made.values():
            live.kubectl.apply(each.manifests)
            make_secrets(each)
        for name, each in made.items():
            waiting = {} if losses[name].removed else losses[name].pending
            wait_for(f"pods of {name}", partial(settled, each, waiting))
            start(live.kubectl, [pod for pod in each.pods() if is_head(pod) and is_bound(pod)])
        lost = [gone for name, each in made.items() for gone in _removed(losses[name], each, nodes[name])]
        live.kubectl.run("delete", "node", *lost)
        yield made
    finally:
        remove_all(made.values())


def _nodes(loss: Loss, deployment: Deployment) -> list[Object]:
    """Return the nodes that are there: a CPU node in each of two zones, and the phases' own."""
    plan = deployment.plan
    gpu = gpu_nodes(deployment.template, plan.availability_zone)
    gpu = [
        node for role in PHASES for node in [each for each in gpu if _role(each) == role][: loss.nodes_that_start(role)]
    ]
    for role, devices in loss.devices.items():
        _take(next(node for node in gpu if _role(node) == role), devices)
    if loss.made:
        cpu = [_beside_daemons(node) for node in system_nodes(stacks_of(plan))]
    else:
        cpu = [system_node(f"us-west-2{zone}", f"{plan.name}-system-{zone}") for zone in "ab"]
    for node in cpu:
        node["metadata"]["labels"] |= plan.head.node_selector
    return [*cpu, *gpu, *(decoy for decoy in decoys(gpu) if decoy["metadata"]["name"].endswith("-zone"))]


def _take(node: Object, devices: dict[str, int]) -> None:
    """Have a node offer so many fewer devices."""
    room = deepcopy(node["status"]["capacity"])
    room |= {device: str(int(room[device]) - fewer) for device, fewer in devices.items()}
    node["status"] = {"capacity": room, "allocatable": room}


def _beside_daemons(node: Object) -> Object:
    """Return a CPU node with what operators and DaemonSets leave of it."""
    room = node["status"]["capacity"]
    cpu = int(room["cpu"].removesuffix("m")) - defaults.SYSTEM_RESERVE_CPU_MILLICORES
    memory = int(room["memory"].removesuffix("Mi")) - defaults.SYSTEM_RESERVE_MEMORY_MIB
    left = {**room, "cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    return {**node, "status": {"capacity": left, "allocatable": left}}


def _role(node: Object) -> str:
    role: str = node["metadata"]["labels"][ROLE_LABEL]
    return role


def _removed(loss: Loss, deployment: Deployment, nodes: list[Object]) -> Iterator[str]:
    """Yield the names of the nodes that are removed."""
    planned = [node for node in nodes if not node["metadata"]["name"].endswith("-zone")]
    zone = deployment.plan.availability_zone
    for what, count in loss.removed.items():
        if what == "zone":
            yield from (name(node) for node in planned if zone in map(node["metadata"]["labels"].get, ZONE_LABELS))
        elif what == "head":
            yield from (pod["spec"]["nodeName"] for pod in deployment.pods() if is_head(pod))
        else:
            yield from [name(node) for node in planned if _role(node) == what][-count:]


def name(found: Object) -> str:
    text: str = found["metadata"]["name"]
    return text


def pending(deployment: Deployment) -> dict[str, int] | None:
    """Return how many pods of each role have no node, or none before all pods are there."""
    plan = deployment.plan
    gateway = plan.endpoint.gateway
    pods = deployment.pods()
    if len(pods) != deployment.expected_pods():
        return None
    if gateway:
        behind = deployment.gateway_pods()
        if len(behind) != gateway.replicas:
            return None
        pods += behind
    return dict(Counter(pod["metadata"]["labels"][ROLE_LABEL] for pod in pods if not is_bound(pod)))


def settled(deployment: Deployment, waiting: dict[str, int]) -> bool:
    """Return whether exactly these pods wait, and none stands on a node that is gone."""
    live = {name(node) for node in deployment.control_plane.kubectl.list("nodes")}
    standing = {pod["spec"]["nodeName"] for pod in deployment.pods() if is_bound(pod)}
    looked_at = NOT_LOOKED_AT not in _reasons(deployment).values()
    return looked_at and pending(deployment) == waiting and standing <= live


@pytest.mark.parametrize("loss", LOSSES, ids=[loss.loss for loss in LOSSES])
def test_what_waits_and_what_may_go_is_what_was_foreseen(cases: Cases, loss: Loss) -> None:
    deployment = cases[loss.loss]
    wait_for(f"state {loss.may_wait()}", lambda: _settled_in(deployment, loss) is not None, NOTICED_SECONDS)
    for reason in _reasons(deployment).values():
        assert loss.words in reason
    start(deployment.control_plane.kubectl, [pod for pod in deployment.pods() if is_head(pod) and is_bound(pod)])
    wait_for(f"budgets {loss.may_go}", lambda: _may_go(deployment) == loss.may_go)
    assert len(_reasons(deployment)) == sum((_settled_in(deployment, loss) or {}).values())


def _settled_in(deployment: Deployment, loss: Loss) -> dict[str, int] | None:
    """Return what waits, once that is what may."""
    return next((waiting for waiting in loss.may_wait() if settled(deployment, waiting)), None)


def _reasons(deployment: Deployment) -> dict[str, str]:
    """Return the scheduler's words about each pod that waits, of the gateway's too."""
    gateway = deployment.gateway_pods() if deployment.plan.endpoint.gateway else []
    said = {name(pod): reason_to_wait(pod) for pod in gateway if not is_bound(pod)}
    return {**deployment.pending_reasons(), **said}


def _may_go(deployment: Deployment) -> dict[str, int]:
    """Return how many pods of each role the budget lets go now."""
    found = deployment.control_plane.kubectl.list("poddisruptionbudgets", deployment.namespace)
    return {name(each).rpartition("-")[2]: each.get("status", {}).get("disruptionsAllowed", -1) for each in found}
