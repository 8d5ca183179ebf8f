"""What the operator does with a change of a service that is ready, as tests/data/control_plane/upgrades.yaml says.

All cases are there at once. Where the operator starts a second cluster there are nodes for it, its head is started, and
the operator moves the traffic. What Ray does with a new application is not seen.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import yaml

from cluster.conftest import RUN
from cluster.control_plane import ControlPlane
from cluster.deployment import Deployment, deployment_of, remove_all
from cluster.kubectl import Object, wait_for
from cluster.nodes import fitting_nodes, system_node
from cluster.ready import (
    READY_SECONDS,
    is_ready,
    looked_twice,
    make_secrets,
    serving_cluster,
    start_head,
    start_pods,
    starting_cluster,
    wait_for_traffic,
)
from support.changes import CHANGES, COMPANIONS, CONTEXTS
from support.rendered import only, whole_deployment
from support.specs import plan_with
from support.upgrades import OBSERVED, STRATEGIES, UPGRADES, Effects, Strategy

ROOM = {"cpu": "400", "memory": "1600Gi"}
SIZES = ("replicas", "minReplicas", "maxReplicas")


@dataclass
class Case:
    """A change under a strategy.

    Attributes:
        deployment: What was there before.
        after: The manifests with the change.
        serving: The RayCluster that served before.
        before: How many configurations the operator had handed out before.
    """

    field: str
    deployment: Deployment
    after: list[Object]
    serving: Object | None = None
    before: int = 0

    @property
    def service(self) -> Object:
        return only(self.deployment.manifests, "RayService")

    @property
    def changed_service(self) -> Object:
        return only(self.after, "RayService")


CASES = [(field, strategy) for field in OBSERVED for strategy in STRATEGIES]
Cases = dict[tuple[str, Strategy], Case]


@pytest.fixture(scope="module")
def cases(live: ControlPlane) -> Iterator[Cases]:
    """Every change made to a service that was ready, and every second cluster in its place."""
    if live.dashboards is None:
        pytest.skip("the operator of a cluster that is not ours asks dashboards that are not there")
    made = {key: _case(live, number, *key) for number, key in enumerate(CASES)}
    deployments = [case.deployment for case in made.values()]
    try:
        deployments[0].nodes = [*_nodes([*made.values()])]
        deployments[0].register_nodes()
        for each in deployments:
            live.kubectl.apply(each.manifests)
            make_secrets(each)
        for each in deployments:
            start_pods(each)
        for each in deployments:
            wait_for("ready service", partial(is_ready, each), READY_SECONDS)
        for case in made.values():
            case.serving = _live(case.deployment, serving_cluster(case.deployment))
            case.before = len(live.dashboards.configs)
            live.kubectl.apply(case.after)
        looked_twice(deployments)
        _move_traffic(deployments)
        yield made
    finally:
        remove_all(deployments)


def _move_traffic(deployments: list[Deployment]) -> None:
    """Start the heads of all second clusters, and wait until the traffic has moved to them."""
    second = [(each, name) for each in deployments if (name := starting_cluster(each))]
    for each, name in second:
        start_head(each, name)
    for each, name in second:
        wait_for_traffic(each, name)


def _case(live: ControlPlane, number: int, field: str, strategy: Strategy) -> Case:
    name = f"upgrade-{RUN}-{number}"
    context = {**CONTEXTS.get(field, {}), **UPGRADES[strategy], "model_cache": None, "name": name, "namespace": name}
    change = {**COMPANIONS.get(field, {}), field: f"{name}-other" if field == "name" else CHANGES[field]}
    return Case(field, deployment_of(plan_with(context), live), whole_deployment(plan_with({**context, **change})))


def _nodes(cases: list[Case]) -> Iterator[Object]:
    """Yield nodes for every worker of before and after, and room for every head."""
    for case in cases:
        yield from fitting_nodes(case.deployment.plan, case.service)
        yield from fitting_nodes(case.deployment.plan, case.changed_service, "-after")
    yield from (system_node(f"us-west-2{zone}", f"upgrade-{RUN}-{zone}", ROOM) for zone in "ab")


def _live(deployment: Deployment, cluster: str) -> Object:
    return deployment.control_plane.kubectl.get("raycluster", cluster, deployment.namespace)


@pytest.mark.parametrize(("field", "strategy"), CASES, ids=[f"{field}-{strategy}" for field, strategy in CASES])
def test_a_service_that_is_ready_changes_as_the_table_says(cases: Cases, field: str, strategy: Strategy) -> None:
    assert observed(cases[field, strategy]) == OBSERVED[field][strategy]


def observed(case: Case) -> Effects:
    """Return what became of each part that the change reaches."""
    kubectl, namespace = case.deployment.control_plane.kubectl, case.deployment.namespace
    old, new = case.service, case.changed_service
    if new["metadata"]["name"] != old["metadata"]["name"]:
        services = {service["metadata"]["name"] for service in kubectl.list("rayservices", namespace)}
        return {"identity": "new_service" if len(services) == 2 else f"{services}"}
    effects: Effects = {}
    now = _live(case.deployment, serving_cluster(case.deployment))
    assert case.serving is not None
    second = now["metadata"]["name"] != case.serving["metadata"]["name"]
    serve = {"application": ("applications", "logging_config"), "proxies": ("http_options", "proxy_location")}
    for part, keys in serve.items():
        if _serve(old, keys) != _serve(new, keys):
            effects[part] = _handed_to(case, part, keys)
    for part, (before, after, running, first) in _cluster_parts(case, now).items():
        if before != after:
            ends = "second_cluster" if second else "in_place"
            effects[part] = ends if running == after else "ignored" if running == first else f"{running}"
    if _own(old) != _own(new):
        here = kubectl.get("rayservice", new["metadata"]["name"], namespace)
        effects["service"] = "in_place" if contains(here, _own(new)) else "ignored"
    if _others(case.deployment.manifests) != _others(case.after):
        effects["objects"] = "in_place" if all(map(partial(_is_live, case), _others(case.after))) else "ignored"
    assert second == ("second_cluster" in effects.values())
    assert starting_cluster(case.deployment) == ""
    return effects


def _serve(service: Object, keys: tuple[str, ...]) -> Any:
    config = yaml.safe_load(service["spec"]["serveConfigV2"])
    return {key: config.get(key) for key in keys}


def _handed_to(case: Case, part: str, keys: tuple[str, ...]) -> str:
    """Return what was done with a part of Serve's configuration, by whom the operator handed the new one to."""
    dashboards, wanted = case.deployment.control_plane.dashboards, _serve(case.changed_service, keys)
    assert dashboards is not None
    assert case.serving is not None
    name = case.deployment.plan.name
    since = [(to, config) for to, config in dashboards.configs[case.before :] if to.rpartition("-")[0] == name]
    got = {to for to, config in since if {key: config.get(key) for key in keys} == wanted}
    if got == {case.serving["metadata"]["name"]}:
        return "in_place" if part == "application" else "handed_on"
    return "second_cluster" if got == {serving_cluster(case.deployment)} else f"handed to {got}"


def _cluster_parts(case: Case, now: Object) -> dict[str, tuple[Any, Any, Any, Any]]:
    """Return each part of the RayCluster as rendered before and after, as it is now, and as it was."""
    assert case.serving is not None
    specs = [service["spec"]["rayClusterConfig"] for service in (case.service, case.changed_service)]
    # What the live one has beside what is rendered are the API server's defaults.
    divided = [_divided(_like(spec, specs)) for spec in (*specs, now["spec"], case.serving["spec"])]
    return {part: (divided[0][part], divided[1][part], divided[2][part], divided[3][part]) for part in divided[0]}


def _divided(cluster: Object) -> dict[str, Any]:
    """Return what KubeRay compares of a cluster, and what it does not."""
    rest = deepcopy(cluster)
    sizes = [group.pop(size, None) for group in rest["workerGroupSpecs"] for size in SIZES]
    groups = [rest["headGroupSpec"], *rest["workerGroupSpecs"]]
    tolerations = [group["template"]["spec"].pop("tolerations", None) for group in groups]
    return {"group_sizes": sizes, "tolerations": tolerations, "pods": rest}


def _like(value: Any, models: list[Any]) -> Any:
    """Return a value without the keys that none of the models has."""
    if isinstance(value, dict):
        known = [model for model in models if isinstance(model, dict)]
        keys = {key for model in known for key in model}
        return {
            key: _like(inner, [model[key] for model in known if key in model])
            for key, inner in value.items()
            if key in keys
        }
    if isinstance(value, list):
        items = [item for model in models if isinstance(model, list) for item in model]
        return [_like(inner, items) for inner in value]
    return value


def _own(service: Object) -> Object:
    """Return a RayService's own fields."""
    spec = {key: value for key, value in service["spec"].items() if key not in ("serveConfigV2", "rayClusterConfig")}
    return {"metadata": service["metadata"], "spec": spec}


def _others(manifests: list[Object]) -> list[Object]:
    return [manifest for manifest in manifests if manifest["kind"] != "RayService"]


def _is_live(case: Case, manifest: Object) -> bool:
    metadata = manifest["metadata"]
    here = case.deployment.control_plane.kubectl.get(
        manifest["kind"], metadata["name"], metadata.get("namespace", case.deployment.namespace)
    )
    return contains(here, manifest)


def contains(here: Any, wanted: Any) -> bool:
    """Return whether a live object has everything that was applied."""
    if isinstance(wanted, dict):
        return isinstance(here, dict) and all(key in here and contains(here[key], wanted[key]) for key in wanted)
    if isinstance(wanted, list):
        return len(here) == len(wanted) and all(map(contains, here, wanted))
    return bool(here == wanted)
