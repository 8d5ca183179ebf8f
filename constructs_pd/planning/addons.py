"""The add-ons that EKS manages in a new cluster, in the order in which they are made."""

from __future__ import annotations

from typing import Final

from pydantic import JsonValue

from constructs_pd.planning import defaults
from constructs_pd.planning.cluster_plan import AddonPlan, AddonStage, PodPermissions
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_cluster import Addon

KUBE_SYSTEM: Final = "kube-system"
# Every taint of GPU nodes is tolerated by the parts of an add-on that belong on them.
GPU_TOLERATIONS: Final[list[JsonValue]] = [{"key": defaults.GPU_TAINT_KEY, "operator": "Exists"}]

# Nodes become ready with the first, the second need nodes, storage drivers come last.
STAGES: Final[dict[AddonStage, tuple[Addon, ...]]] = {
    "before_nodes": ("eks-pod-identity-agent", "vpc-cni", "kube-proxy"),
    "after_nodes": ("coredns", "eks-node-monitoring-agent"),
    "storage": ("aws-efs-csi-driver",),
}
CONFIGURATION: Final[dict[Addon, dict[str, JsonValue]]] = {
    # A text, not a boolean: the add-on's schema refuses the boolean.
    "vpc-cni": {"enableNetworkPolicy": "true"},
    # Its part that watches GPUs tolerates nothing of its own accord, and nodes that it cannot watch are reported as
    # unhealthy. Its other part tolerates everything, as the CNI, the proxy and the identity agent do.
    "eks-node-monitoring-agent": {"dcgmAgent": {"tolerations": GPU_TOLERATIONS}},
}
PERMISSIONS: Final[dict[Addon, PodPermissions]] = {
    "vpc-cni": PodPermissions(
        namespace=KUBE_SYSTEM, service_account="aws-node", managed_policies=("AmazonEKS_CNI_Policy",)
    ),
    "aws-efs-csi-driver": PodPermissions(
        namespace=KUBE_SYSTEM,
        service_account="efs-csi-controller-sa",
        managed_policies=("service-role/AmazonEFSCSIDriverPolicy",),
    ),
}


def addons(facts: Facts) -> tuple[AddonPlan, ...]:
    """Return them. What a node needs to become ready comes before the first node."""
    return tuple(_addon(facts, name) for name in addon_names(facts.spec))


def addon_names(spec: DeploymentSpec) -> tuple[Addon, ...]:
    """Return their names; a storage driver is among them only where the specification needs it."""
    cache = spec.model_cache
    driver: tuple[Addon, ...] = ("aws-efs-csi-driver",) if cache is not None and cache.storage == "efs" else ()
    return (*STAGES["before_nodes"], *STAGES["after_nodes"], *driver)


def _addon(facts: Facts, name: Addon) -> AddonPlan:
    spec = facts.spec
    stated = spec.eks_cluster.addon_versions if spec.eks_cluster else {}
    permissions = PERMISSIONS.get(name)
    if name == "vpc-cni" and spec.nodes.vpc_cni_role == "node":
        permissions = None
    return AddonPlan(
        name=name,
        version=stated.get(name) or facts.catalog.addons[name].versions[spec.kubernetes_version],
        stage=next(stage for stage, names in STAGES.items() if name in names),
        configuration=CONFIGURATION.get(name, {}),
        permissions=permissions,
    )
