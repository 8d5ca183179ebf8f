from __future__ import annotations

from typing import Any

import pytest
from cdk8s import ApiObject, JsonPatch
from syrupy.assertion import SnapshotAssertion

from constructs_pd import PlanError, PrefillDecodeService, RayLlmCluster
from constructs_pd.manifests.ray_service import ray_service_spec
from support.rendered import chart, kinds, only, synthesized
from support.specs import plan_with

KINDS = ["ServiceAccount", "PodDisruptionBudget", "PodDisruptionBudget", "PodDisruptionBudget", "RayService"]


def test_it_contains_the_cluster_and_no_ray_cluster_is_left(yaml_file: SnapshotAssertion) -> None:
    scope, plan = chart(), plan_with()
    PrefillDecodeService(scope, "service", plan=plan, cluster=RayLlmCluster(scope, "cluster", plan=plan))
    manifests = synthesized(scope)
    assert kinds(manifests) == KINDS
    assert only(manifests, "RayService")["spec"] == ray_service_spec(plan)
    assert manifests == yaml_file


def test_name_namespace_and_label() -> None:
    scope, plan = chart(), plan_with()
    PrefillDecodeService(scope, "service", plan=plan, cluster=RayLlmCluster(scope, "cluster", plan=plan))
    assert only(synthesized(scope), "RayService")["metadata"] == {
        "name": "qwen35-9b",
        "namespace": "inference",
        "labels": {"constructs-pd/deployment": "qwen35-9b"},
    }


def test_a_cluster_serves_one_service() -> None:
    scope, plan = chart(), plan_with()
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    PrefillDecodeService(scope, "first", plan=plan, cluster=cluster)
    with pytest.raises(PlanError, match="PD502 error test/second: the cluster test/cluster already serves test/first"):
        PrefillDecodeService(scope, "second", plan=plan, cluster=cluster)


def test_cluster_and_service_come_from_one_plan() -> None:
    scope = chart()
    cluster = RayLlmCluster(scope, "cluster", plan=plan_with({"name": "one"}))
    with pytest.raises(PlanError, match=r"PD501 error test/service: .* \(of 'one'\) than this one \(of 'two'\)"):
        PrefillDecodeService(scope, "service", plan=plan_with({"name": "two"}), cluster=cluster)
    assert kinds(synthesized(scope)).count("RayCluster") == 1


@pytest.mark.parametrize("cluster", [None, "cluster", chart()], ids=["none", "text", "chart"])
def test_arguments_of_another_kind_are_refused(cluster: Any) -> None:
    scope, plan = chart(), plan_with()
    with pytest.raises(PlanError, match=r"PD520 error test/service: cluster is a (NoneType|str|Chart)"):
        PrefillDecodeService(scope, "service", plan=plan, cluster=cluster)
    none: Any = None
    with pytest.raises(PlanError, match="PD520 error test/other: plan is a NoneType"):
        PrefillDecodeService(scope, "other", plan=none, cluster=RayLlmCluster(scope, "cluster", plan=plan))


def test_several_in_one_chart() -> None:
    scope = chart()
    for name in ("one", "two"):
        plan = plan_with({"name": name})
        PrefillDecodeService(scope, name, plan=plan, cluster=RayLlmCluster(scope, f"{name}-cluster", plan=plan))
    assert sorted(kinds(synthesized(scope))) == sorted(KINDS * 2)


def test_escape_hatch_wins_over_what_is_rendered() -> None:
    scope, plan = chart(), plan_with()
    service = PrefillDecodeService(scope, "service", plan=plan, cluster=RayLlmCluster(scope, "cluster", plan=plan))
    ApiObject.of(service).add_json_patch(JsonPatch.replace("/spec/rayClusterConfig/rayVersion", "2.59.0"))
    assert only(synthesized(scope), "RayService")["spec"]["rayClusterConfig"]["rayVersion"] == "2.59.0"


def test_annotation_that_gives_a_service_up() -> None:
    scope, plan = chart(), plan_with({"initializing_timeout_seconds": 7200})
    PrefillDecodeService(scope, "service", plan=plan, cluster=RayLlmCluster(scope, "cluster", plan=plan))
    metadata = only(synthesized(scope), "RayService")["metadata"]
    assert metadata["annotations"] == {"ray.io/initializing-timeout": "7200"}


def test_a_change_of_the_cluster_that_would_be_lost_is_refused() -> None:
    scope, plan = chart(), plan_with()
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    ApiObject.of(cluster).add_json_patch(JsonPatch.add("/spec/suspend", True))
    with pytest.raises(PlanError, match="PD503 error test/service: the RayCluster of test/cluster was patched"):
        PrefillDecodeService(scope, "service", plan=plan, cluster=cluster)


def test_the_escape_hatch_of_an_adopted_cluster_is_the_service() -> None:
    scope, plan = chart(), plan_with()
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    service = PrefillDecodeService(scope, "service", plan=plan, cluster=cluster)
    assert ApiObject.of(cluster).node.path == ApiObject.of(service).node.path
