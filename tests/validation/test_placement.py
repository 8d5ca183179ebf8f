"""From the rendered data alone: every engine has a place, and none has a place on the other phase's nodes."""

from __future__ import annotations

from collections import Counter
from itertools import permutations
from typing import Any

import pytest

from readers import ray_serve
from readers.ray_serve import BuiltDeployment
from support.ray_nodes import RayNode, place, ray_nodes, replica_demands
from support.rendered import only, whole_deployment
from support.specs import VARIANTS, plan_with


@pytest.fixture(scope="module", params=list(VARIANTS.values()), ids=list(VARIANTS))
def service(request: pytest.FixtureRequest) -> dict[str, Any]:
    spec: dict[str, Any] = only(whole_deployment(plan_with(request.param)), "RayService")["spec"]
    return spec


def built(service: dict[str, Any]) -> tuple[BuiltDeployment, ...]:
    return ray_serve.build(service["serveConfigV2"])


def by_phase(service: dict[str, Any]) -> dict[str, BuiltDeployment]:
    names = {"Prefill": "prefill", "Decode": "decode", "OpenAiIngress": "ingress"}
    return {names[deployment.name.split(":")[0]]: deployment for deployment in built(service)}


def empty(nodes: list[RayNode], group: str) -> RayNode:
    return next(node for node in nodes if node.group == group)


def test_no_bundle_of_a_phase_fits_an_empty_worker_of_the_other(service: dict[str, Any]) -> None:
    deployments, nodes = by_phase(service), ray_nodes(service["rayClusterConfig"])
    for phase, other in permutations(("prefill", "decode")):
        for bundle in replica_demands(deployments[phase]):
            assert empty(nodes, phase).fits(bundle)
            assert not empty(nodes, other).fits(bundle)


def test_the_ingress_fits_decode_workers_only(service: dict[str, Any]) -> None:
    (demand,) = replica_demands(by_phase(service)["ingress"])
    nodes = ray_nodes(service["rayClusterConfig"])
    assert {node.group for node in nodes if node.fits(demand)} == {"decode"}


def test_nothing_fits_the_head(service: dict[str, Any]) -> None:
    head = empty(ray_nodes(service["rayClusterConfig"]), "head")
    assert head.free == {"CPU": 0, "GPU": 0}
    assert not any(head.fits(demand) for deployment in built(service) for demand in replica_demands(deployment))


@pytest.mark.parametrize("order", list(permutations(range(3))))
def test_every_replica_has_a_place_in_whatever_order_they_come(service: dict[str, Any], order: tuple[int, ...]) -> None:
    deployments = built(service)
    placement = place(tuple(deployments[index] for index in order), ray_nodes(service["rayClusterConfig"]))
    assert placement.pending == []
    groups = {name.split(":")[0]: Counter(where) for name, where in placement.placed.items()}
    replicas = {group["groupName"]: group["replicas"] for group in service["rayClusterConfig"]["workerGroupSpecs"]}
    assert groups == {
        "Prefill": {"prefill": replicas["prefill"]},
        "Decode": {"decode": replicas["decode"]},
        "OpenAiIngress": {"decode": 2 * replicas["decode"]},
    }


def test_each_worker_takes_exactly_one_engine(service: dict[str, Any]) -> None:
    deployments, nodes = by_phase(service), ray_nodes(service["rayClusterConfig"])
    for phase in ("prefill", "decode"):
        pods = [node for node in nodes if node.group == phase]
        more = [deployments[phase]] * 2
        assert place(tuple(more), pods).pending == [deployments[phase].name] * len(pods)


def test_an_engines_bundles_are_one_per_gpu_and_stay_on_one_node(service: dict[str, Any]) -> None:
    for phase in ("prefill", "decode"):
        deployment = by_phase(service)[phase]
        group = next(g for g in service["rayClusterConfig"]["workerGroupSpecs"] if g["groupName"] == phase)
        assert deployment.placement_strategy == "STRICT_PACK"
        assert len(deployment.bundles) == int(group["resources"][f"pd-{phase}"])
        assert [bundle["GPU"] for bundle in deployment.bundles] == [1.0] * len(deployment.bundles)


def test_the_check_itself_notices_a_swapped_resource() -> None:
    spec = only(whole_deployment(plan_with()), "RayService")["spec"]
    groups = spec["rayClusterConfig"]["workerGroupSpecs"]
    groups[0]["resources"], groups[1]["resources"] = groups[1]["resources"], groups[0]["resources"]
    placed = place(built(spec), ray_nodes(spec["rayClusterConfig"])).placed
    assert placed["Prefill:qwen3_5-9b"] == ["decode"]


def test_the_check_itself_notices_an_ingress_without_room() -> None:
    spec = only(whole_deployment(plan_with()), "RayService")["spec"]
    for group in spec["rayClusterConfig"]["workerGroupSpecs"]:
        group["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"] = "1"
    assert place(built(spec), ray_nodes(spec["rayClusterConfig"])).pending == ["OpenAiIngress"] * 2
