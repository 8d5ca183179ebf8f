"""Nothing is made before what it needs: proven from the templates of all stacks together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from itertools import pairwise
from typing import Any

import pytest

from support.new_cluster import (
    CHANGES,
    STACKS,
    Stacks,
    one_stack,
    plan_of,
    recommended_flags,
    stack_dependencies,
    stacks_of,
)
from support.order import applied, namespaces_are_first, needs, unordered

Dependencies = dict[str, set[str]]


@pytest.fixture(scope="module")
def reference() -> tuple[Stacks, Dependencies]:
    plan = plan_of("reference")
    return stacks_of(plan), stack_dependencies(plan)


@pytest.mark.parametrize("variant", CHANGES)
def test_every_need_is_met_before(variant: str) -> None:
    plan = plan_of(variant)
    assert unordered(stacks_of(plan), stack_dependencies(plan)) == []


@pytest.mark.parametrize("by_its_cluster", [False, True])
@pytest.mark.parametrize("variant", CHANGES)
def test_every_need_is_met_before_in_one_stack_too(variant: str, by_its_cluster: bool) -> None:
    stacks = one_stack(plan_of(variant), by_its_cluster=by_its_cluster)
    assert unordered(stacks, {"all": set()}) == []


def test_every_need_is_met_before_in_an_app_with_the_flags_that_the_cdk_recommends() -> None:
    plan, flags = plan_of("reference"), recommended_flags()
    assert len(flags) > 50
    # Its default rules are read elsewhere, and weak references between stacks are no references to this reader.
    flags |= {"@aws-cdk/core:validateAgainstDefaultRules": False, "@aws-cdk/core:defaultCrossStackReferences": "strong"}
    stacks = stacks_of(plan, flags)
    assert unordered(stacks, stack_dependencies(plan)) == []
    # A policy that denies what has no IAM identity lets no node mount the file system.
    (file_system,) = [
        found["Properties"]
        for found in stacks["add-ons"]["Resources"].values()
        if found["Type"] == "AWS::EFS::FileSystem"
    ]
    assert "FileSystemPolicy" not in file_system
    # EFA needs the rule to the group itself, which the CDK's own class would drop.
    kinds = Counter(found["Type"] for found in stacks["gpu-nodes"]["Resources"].values())
    assert (kinds["AWS::EC2::SecurityGroupEgress"], kinds["AWS::EKS::Nodegroup"]) == (1, 2)


def test_what_the_reference_needs(reference: tuple[Stacks, Dependencies]) -> None:
    found = sorted({need.what for need in needs(reference[0])})
    assert found == [
        "KubeRay's definitions and operator",
        "a way out of its subnets",
        "a way to the file system",
        "coredns",
        "eks-pod-identity-agent",
        "its driver",
        "kube-proxy",
        "nodes",
        "nodes for its pods",
        "the GPUs' device plugin",
        "the adapters' device plugin",
        "the balancer's controller with its webhooks",
        "the identity of its pods",
        "the log group that EKS would make itself",
        "the right to apply",
        "the storage class qwen35-9b-model-cache",
        "vpc-cni",
    ]


def test_each_stack_waits_for_the_one_before_it(reference: tuple[Stacks, Dependencies]) -> None:
    for earlier, later in pairwise(STACKS):
        assert earlier in reference[1][later]
        assert later not in reference[1][earlier]


@pytest.mark.parametrize("variant", CHANGES)
def test_a_namespace_comes_before_what_stands_in_it(variant: str) -> None:
    manifests = applied(stacks_of(plan_of(variant)), "workload")
    assert namespaces_are_first(manifests) == []


def test_an_object_before_its_namespace_is_noticed(reference: tuple[Stacks, Dependencies]) -> None:
    manifests = applied(reference[0], "workload")
    assert manifests[0]["kind"] == "Namespace"
    assert namespaces_are_first([*manifests[1:], manifests[0]])[0] == "ServiceAccount qwen35-9b"


def without_dependency(stack: str, *kinds: str) -> Callable[[Stacks, Dependencies], Any]:
    def plant(stacks: Stacks, _: Dependencies) -> None:
        for resource in stacks[stack]["Resources"].values():
            if resource["Type"] in kinds:
                resource.pop("DependsOn", None)

    return plant


def without(stack: str, name: str) -> Callable[[Stacks, Dependencies], Any]:
    def plant(stacks: Stacks, _: Dependencies) -> None:
        (logical_id,) = [
            found
            for found, resource in stacks[stack]["Resources"].items()
            if name in (resource["Properties"].get("AddonName"), resource["Properties"].get("Chart"))
        ]
        del stacks[stack]["Resources"][logical_id]

    return plant


PLANTED: dict[str, tuple[Callable[[Stacks, Dependencies], Any], str]] = {
    "add-ons beside the cluster": (
        lambda _, dependencies: dependencies.update({"add-ons": set()}),
        "before nodes for its pods",
    ),
    "a workload that waits for the cluster only": (
        lambda _, dependencies: dependencies.update({"workload": {"cluster"}}),
        "before KubeRay's definitions and operator",
    ),
    "nodes before their network plugin": (
        without_dependency("cluster", "AWS::EKS::Nodegroup", "AWS::EC2::LaunchTemplate"),
        "before vpc-cni",
    ),
    "names that resolve before there are nodes": (
        without_dependency("cluster", "AWS::EKS::Addon"),
        "before nodes for its pods",
    ),
    "a cluster before its way out": (
        lambda stacks, dependencies: dependencies.update({"cluster": set()}),
        "before a way out of its subnets",
    ),
    "a cluster before its log group": (
        without_dependency("cluster", "AWS::EKS::Cluster"),
        "before the log group",
    ),
    "a controller before its identity": (
        without_dependency("add-ons", "Custom::AWSCDK-EKS-HelmChart"),
        "before the identity of its pods",
    ),
    "a storage class before its driver": (
        without_dependency("add-ons", "Custom::AWSCDK-EKS-KubernetesResource"),
        "before its driver",
    ),
    "no operator": (without("add-ons", "kuberay-operator"), "before KubeRay's definitions and operator"),
    "no plugin for adapters": (without("add-ons", "aws-efa-k8s-device-plugin"), "before the adapters' device plugin"),
    "no plugin for GPUs": (without("add-ons", "nvidia-device-plugin"), "before the GPUs' device plugin"),
    "no controller of balancers": (
        without("add-ons", "aws-load-balancer-controller"),
        "before the balancer's controller",
    ),
    "no network plugin": (without("cluster", "vpc-cni"), "before vpc-cni"),
    "no storage driver": (without("add-ons", "aws-efs-csi-driver"), "before its driver"),
}


@pytest.mark.parametrize(("plant", "expected"), PLANTED.values(), ids=PLANTED)
def test_what_comes_too_early_is_noticed(
    reference: tuple[Stacks, Dependencies], plant: Callable[[Stacks, Dependencies], Any], expected: str
) -> None:
    stacks, dependencies = deepcopy(reference)
    plant(stacks, dependencies)
    assert any(expected in text for text in unordered(stacks, dependencies))
