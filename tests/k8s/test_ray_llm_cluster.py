from __future__ import annotations

import pytest
from cdk8s import ApiObject, JsonPatch
from syrupy.assertion import SnapshotAssertion

from constructs_pd import PlanError, RayLlmCluster
from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from support.new_cluster import CHANGES
from support.rendered import chart, kinds, only, synthesized
from support.specs import plan_with

KINDS = ["ServiceAccount", "RayCluster", "PodDisruptionBudget", "PodDisruptionBudget", "PodDisruptionBudget"]


def test_alone_it_is_a_ray_cluster(yaml_file: SnapshotAssertion) -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with())
    manifests = synthesized(scope)
    assert kinds(manifests) == KINDS
    assert only(manifests, "RayCluster")["spec"] == ray_cluster_spec(plan_with())
    assert manifests == yaml_file


def test_every_object_carries_name_namespace_and_label() -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with())
    for manifest in synthesized(scope):
        metadata = manifest["metadata"]
        assert metadata["name"].startswith("qwen35-9b")
        assert metadata["namespace"] == "inference"
        assert metadata["labels"] == {"constructs-pd/deployment": "qwen35-9b"}


def test_each_budget_selects_one_kind_of_pod_and_keeps_a_whole_number() -> None:
    scope = chart()
    plan = plan_with({"decode.replicas": 4})
    RayLlmCluster(scope, "cluster", plan=plan)
    budgets = [m for m in synthesized(scope) if m["kind"] == "PodDisruptionBudget"]
    assert [budget["metadata"]["name"] for budget in budgets] == [
        "qwen35-9b-head",
        "qwen35-9b-prefill",
        "qwen35-9b-decode",
    ]
    pods = [plan.head.pod_labels, plan.prefill.pod_labels, plan.decode.pod_labels]
    for index, budget in enumerate(budgets):
        selector = budget["spec"]["selector"]["matchLabels"]
        assert [selector.items() <= labels.items() for labels in pods] == [index == n for n in range(3)]
        assert "maxUnavailable" not in budget["spec"]
    assert [budget["spec"]["minAvailable"] for budget in budgets] == [1, 1, 3]


def test_the_account_holds_no_token() -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with())
    assert only(synthesized(scope), "ServiceAccount")["automountServiceAccountToken"] is False


def test_a_model_cache_that_is_made_is_claimed_by_every_node() -> None:
    scope, plan = chart(), plan_with(CHANGES["reference"])
    RayLlmCluster(scope, "cluster", plan=plan)
    manifests = synthesized(scope)
    assert kinds(manifests) == ["ServiceAccount", "PersistentVolumeClaim", *KINDS[1:]]
    claim = only(manifests, "PersistentVolumeClaim")
    assert plan.model_cache is not None
    assert plan.model_cache_storage is not None
    assert (claim["metadata"]["name"], claim["metadata"]["namespace"]) == (plan.model_cache.claim_name, plan.namespace)
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    assert claim["spec"]["storageClassName"] == plan.model_cache_storage.storage_class
    (head,) = [
        volume["persistentVolumeClaim"]["claimName"]
        for volume in only(manifests, "RayCluster")["spec"]["headGroupSpec"]["template"]["spec"]["volumes"]
        if "persistentVolumeClaim" in volume
    ]
    assert head == claim["metadata"]["name"]


def test_several_in_one_chart() -> None:
    scope = chart()
    for name in ("one", "two"):
        RayLlmCluster(scope, name, plan=plan_with({"name": name}))
    manifests = synthesized(scope)
    assert kinds(manifests) == KINDS * 2
    identities = {(m["kind"], m["metadata"]["name"]) for m in manifests}
    assert len(identities) == len(manifests)


def test_escape_hatch_wins_over_what_is_rendered() -> None:
    scope = chart()
    cluster = RayLlmCluster(scope, "cluster", plan=plan_with())
    ApiObject.of(cluster).add_json_patch(
        JsonPatch.replace("/spec/workerGroupSpecs/0/replicas", 5),
        JsonPatch.add("/spec/suspend", True),
    )
    spec = only(synthesized(scope), "RayCluster")["spec"]
    assert spec["workerGroupSpecs"][0]["replicas"] == 5
    assert spec["suspend"] is True


def test_single_pods_can_go_without_a_budget() -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with({"decode.replicas": 2, "single_pod_budget": "none"}))
    budgets = [m for m in synthesized(scope) if m["kind"] == "PodDisruptionBudget"]
    assert [(b["metadata"]["name"], b["spec"]["minAvailable"]) for b in budgets] == [("qwen35-9b-decode", 1)]


def test_labels_of_the_user_do_not_change_what_a_budget_selects() -> None:
    scope = chart()
    RayLlmCluster(scope, "cluster", plan=plan_with({"labels": {"team": "search"}}))
    for budget in (m for m in synthesized(scope) if m["kind"] == "PodDisruptionBudget"):
        assert set(budget["spec"]["selector"]["matchLabels"]) == {"constructs-pd/deployment", "constructs-pd/role"}
        assert budget["metadata"]["labels"]["team"] == "search"


def test_annotations_of_the_account() -> None:
    scope = chart()
    role = {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/reader"}
    RayLlmCluster(scope, "cluster", plan=plan_with({"service_account_annotations": role}))
    assert only(synthesized(scope), "ServiceAccount")["metadata"]["annotations"] == role


def test_a_name_is_used_once_in_an_app_also_across_namespaces() -> None:
    scope = chart()
    RayLlmCluster(scope, "first", plan=plan_with())
    RayLlmCluster(scope, "other", plan=plan_with({"name": "other"}))
    with pytest.raises(PlanError, match="PD504 error test/second: test/first has 'qwen35-9b' already"):
        RayLlmCluster(scope, "second", plan=plan_with({"namespace": "elsewhere"}))
