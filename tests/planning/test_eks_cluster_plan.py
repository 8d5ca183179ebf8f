"""What is decided of a new EKS cluster."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.cluster_plan import EksClusterPlan
from constructs_pd.planning.defaults import CONTROL_PLANE_LOGS
from support.specs import plan_with

NEW: dict[str, Any] = {"eks_cluster": {"other_zones": ["us-west-2b"]}}


def cluster(changes: dict[str, Any] | None = None) -> EksClusterPlan:
    planned = plan_with({**NEW, **(changes or {})}).eks_cluster
    assert planned is not None
    return planned


def test_none_is_made_unless_it_is_stated() -> None:
    assert plan_with().eks_cluster is None


@pytest.mark.parametrize(("stated", "name"), [(None, "qwen35-9b"), ("Platform_1", "Platform_1")])
def test_it_is_called_as_stated_or_like_the_deployment(stated: str | None, name: str) -> None:
    planned = cluster({"eks_cluster.name": stated})
    assert planned.name == name
    assert planned.log_group_name == f"/aws/eks/{name}/cluster"
    assert planned.system_nodes.tags["Name"] == f"{name}-system"


def test_every_log_is_kept_for_a_month_or_as_long_as_stated() -> None:
    assert (cluster().log_types, cluster().log_retention_days) == (CONTROL_PLANE_LOGS, 30)
    assert cluster({"eks_cluster.log_retention_days": 365}).log_retention_days == 365


def test_the_api_is_reached_from_the_network_only_unless_it_is_stated() -> None:
    assert cluster().public_access_cidrs == ()
    assert cluster({"eks_cluster.public_access_cidrs": ["8.8.8.8/32"]}).public_access_cidrs == ("8.8.8.8/32",)


@pytest.mark.parametrize(
    "selector",
    [
        {"constructs-pd/role": "system"},
        {"pool": "cpu"},
        {"kubernetes.io/arch": "amd64", "pool": "cpu"},
        {"constructs-pd/role": "head"},
    ],
)
def test_system_nodes_have_the_labels_that_the_head_selects(selector: dict[str, str]) -> None:
    changes = {**NEW, "head.node_selector": selector}
    labels = cluster(changes).system_nodes.labels
    assert plan_with(changes).head.node_selector.items() <= {**labels, "kubernetes.io/arch": "amd64"}.items()
    assert "kubernetes.io/arch" not in labels


def test_system_nodes_are_of_the_role_that_the_head_selects_of_its_own_accord() -> None:
    assert cluster({"head.node_selector": {"pool": "cpu"}}).system_nodes.labels == {
        "constructs-pd/role": "system",
        "pool": "cpu",
    }


def test_system_nodes_are_two_or_as_stated_and_of_the_clusters_version() -> None:
    nodes = cluster().system_nodes
    assert (nodes.count, nodes.instance_type, nodes.kubernetes_version) == (2, "m7i.xlarge", "1.35")
    stated = {"instance_type": "m6i.2xlarge", "count": 3}
    nodes = cluster({"eks_cluster.system_nodes": stated, "kubernetes_version": "1.36"}).system_nodes
    assert (nodes.count, nodes.instance_type, nodes.kubernetes_version) == (3, "m6i.2xlarge", "1.36")


def test_tags_stand_on_the_cluster_and_on_its_nodes() -> None:
    planned = cluster({"nodes.tags": {"cost-center": "7"}})
    tags = {"cost-center": "7", "constructs-pd/deployment": "qwen35-9b"}
    assert planned.tags == tags
    assert planned.system_nodes.tags == {**tags, "Name": "qwen35-9b-system"}


@pytest.mark.parametrize(
    ("changes", "storage_class"),
    [({}, None), ({"model_cache": None}, None), ({"model_cache.storage": "efs"}, "qwen35-9b-model-cache")],
)
def test_a_storage_class_is_there_for_a_claim_that_is_made(changes: dict[str, Any], storage_class: str | None) -> None:
    storage = plan_with({**NEW, **changes}).model_cache_storage
    assert (storage.storage_class if storage else None) == storage_class
