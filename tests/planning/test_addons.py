"""The add-ons that EKS manages in a new cluster."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.cluster_plan import AddonPlan
from support.specs import plan_with

NEW: dict[str, Any] = {"eks_cluster": {"other_zones": ["us-west-2b"]}}
ROWS = load_catalog().addons


def addons(changes: dict[str, Any] | None = None) -> dict[str, AddonPlan]:
    planned = plan_with({**NEW, **(changes or {})}).eks_cluster
    assert planned is not None
    return {addon.name: addon for addon in planned.addons}


def test_what_nodes_need_comes_before_them_and_a_storage_driver_last() -> None:
    stages = [(addon.stage, name) for name, addon in addons({"model_cache.storage": "efs"}).items()]
    assert stages == [
        ("before_nodes", "eks-pod-identity-agent"),
        ("before_nodes", "vpc-cni"),
        ("before_nodes", "kube-proxy"),
        ("after_nodes", "coredns"),
        ("after_nodes", "eks-node-monitoring-agent"),
        ("storage", "aws-efs-csi-driver"),
    ]


@pytest.mark.parametrize("changes", [{}, {"model_cache": None}, {"model_cache.storage": "existing"}])
def test_no_storage_driver_where_nothing_is_stored(changes: dict[str, Any]) -> None:
    assert "aws-efs-csi-driver" not in addons(changes)


@pytest.mark.parametrize("kubernetes", load_catalog().kubernetes)
def test_versions_are_those_of_the_kubernetes_version(kubernetes: str) -> None:
    versions = {name: addon.version for name, addon in addons({"kubernetes_version": kubernetes}).items()}
    assert versions == {name: ROWS[name].versions[kubernetes] for name in versions}


def test_a_stated_version_takes_the_place_of_the_catalogues() -> None:
    found = addons({"eks_cluster.addon_versions": {"coredns": "v1.14.6-eksbuild.4"}})
    assert found["coredns"].version == "v1.14.6-eksbuild.4"
    assert found["kube-proxy"].version == ROWS["kube-proxy"].versions["1.35"]


@pytest.mark.parametrize(("role", "has_its_own"), [(None, True), ("own", True), ("node", False)])
def test_the_cni_has_a_role_of_its_own_unless_it_uses_the_nodes(role: str | None, has_its_own: bool) -> None:
    cni = addons({"nodes.vpc_cni_role": role})["vpc-cni"]
    assert (cni.permissions is not None) == has_its_own
    planned = plan_with({**NEW, "nodes.vpc_cni_role": role})
    assert planned.vpc_cni_uses_node_role != has_its_own


def test_in_a_cluster_that_exists_the_cni_uses_the_nodes_role_unless_it_is_said() -> None:
    assert plan_with().vpc_cni_uses_node_role
    assert not plan_with({"nodes.vpc_cni_role": "own"}).vpc_cni_uses_node_role


def test_permissions_are_those_of_the_add_ons_own_accounts() -> None:
    found = addons({"model_cache.storage": "efs"})
    permissions = {
        name: (addon.permissions.namespace, addon.permissions.service_account, *addon.permissions.managed_policies)
        for name, addon in found.items()
        if addon.permissions is not None
    }
    assert permissions == {
        "vpc-cni": ("kube-system", "aws-node", "AmazonEKS_CNI_Policy"),
        "aws-efs-csi-driver": ("kube-system", "efs-csi-controller-sa", "service-role/AmazonEFSCSIDriverPolicy"),
    }


def test_network_policies_are_enforced_and_gpus_are_watched() -> None:
    found = addons()
    assert found["vpc-cni"].configuration == {"enableNetworkPolicy": "true"}
    assert found["eks-node-monitoring-agent"].configuration == {
        "dcgmAgent": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}
    }
    assert found["coredns"].configuration == {}
