"""Two deployments in one app and one namespace: nothing of one means anything to the other."""

from __future__ import annotations

from typing import Any

from constructs_pd import (
    DeploymentNamespace,
    DeploymentPlan,
    OpenAIEndpoint,
    PrefillDecodeService,
    RayLlmCluster,
)
from support.rendered import Manifest, chart, synthesized
from support.specs import plan_with

PLANS = {
    "one": plan_with({"name": "one"}),
    "two": plan_with({"name": "two", "model": {"source": "Qwen/Qwen3-8B"}, "decode.replicas": 2}),
}


def both() -> list[Manifest]:
    scope = chart()
    DeploymentNamespace(scope, "namespace", plan=PLANS["one"])
    for name, plan in PLANS.items():
        cluster = RayLlmCluster(scope, f"{name}-cluster", plan=plan)
        service = PrefillDecodeService(scope, f"{name}-service", plan=plan, cluster=cluster)
        OpenAIEndpoint(scope, f"{name}-endpoint", plan=plan, service=service)
    return synthesized(scope)


def pods(manifests: list[Manifest]) -> dict[tuple[str, str], dict[str, Any]]:
    found = {}
    for service in (manifest for manifest in manifests if manifest["kind"] == "RayService"):
        cluster = service["spec"]["rayClusterConfig"]
        name = service["metadata"]["name"]
        found[name, "head"] = cluster["headGroupSpec"]["template"]
        found |= {(name, group["groupName"]): group["template"] for group in cluster["workerGroupSpecs"]}
    return found


def node_labels(plan: DeploymentPlan) -> list[dict[str, str]]:
    given = {"kubernetes.io/arch": "amd64", "topology.kubernetes.io/zone": plan.availability_zone}
    return [{**given, **phase.nodes.labels} for phase in plan.phases]


def test_every_object_has_a_name_of_its_own() -> None:
    manifests = both()
    objects = [(m["apiVersion"], m["kind"], m["metadata"].get("namespace"), m["metadata"]["name"]) for m in manifests]
    assert len(set(objects)) == len(objects) == 1 + 2 * 7


def test_workers_fit_the_nodes_of_their_own_deployment_and_phase_only() -> None:
    nodes = {
        (name, phase.name): labels
        for name, plan in PLANS.items()
        for phase, labels in zip(plan.phases, node_labels(plan), strict=True)
    }
    for owner, template in pods(both()).items():
        selector = template["spec"]["nodeSelector"]
        fitting = [node for node, labels in nodes.items() if selector.items() <= labels.items()]
        assert fitting == ([] if owner[1] == "head" else [owner])


def test_budgets_select_pods_of_their_own_deployment_only() -> None:
    manifests = both()
    templates = pods(manifests)
    budgets = [manifest for manifest in manifests if manifest["kind"] == "PodDisruptionBudget"]
    assert len(budgets) == 6
    for budget in budgets:
        selector = budget["spec"]["selector"]["matchLabels"]
        selected = [o for o, t in templates.items() if selector.items() <= t["metadata"]["labels"].items()]
        assert [f"{name}-{role}" for name, role in selected] == [budget["metadata"]["name"]]


def test_workers_keep_away_from_workers_of_their_own_deployment_only() -> None:
    templates = pods(both())
    for owner, template in templates.items():
        if owner[1] == "head":
            continue
        (term,) = template["spec"]["affinity"]["podAntiAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
        labels = term["labelSelector"]["matchLabels"]
        matched = {o[0] for o, t in templates.items() if labels.items() <= t["metadata"]["labels"].items()}
        assert matched == {owner[0]}


def test_clients_and_balancers_reach_their_own_service() -> None:
    manifests = both()
    for kind in ("Service", "Ingress"):
        for manifest in (m for m in manifests if m["kind"] == kind):
            name = manifest["metadata"]["name"]
            assert f"{name}-serve-svc" in str(manifest["spec"])
            (other,) = set(PLANS) - {name}
            assert f"{other}-serve-svc" not in str(manifest["spec"])
