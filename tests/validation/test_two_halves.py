"""Both halves of one specification agree, and the comparison notices when they do not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from support.both_halves import cpu_left, disagreements, memory_left
from support.ec2 import described
from support.new_cluster import CHANGES, plan_of, stacks_of, system_nodes, zone_of_gpu_nodes, zones_of_system_nodes
from support.order import applied
from support.rendered import only, whole_deployment
from support.specs import VARIANTS, plan_with
from support.template import launch_template, node_group, synthesized

Data = dict[str, Any]


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_they_agree(changes: Data) -> None:
    plan = plan_with(changes)
    assert disagreements(synthesized(plan), whole_deployment(plan), plan.availability_zone) == []


@pytest.mark.parametrize("variant", CHANGES)
def test_they_agree_with_a_cluster_that_is_made(variant: str) -> None:
    stacks = stacks_of(plan_of(variant))
    manifests = applied(stacks, "workload")
    assert disagreements(stacks["gpu-nodes"], manifests, zone_of_gpu_nodes(stacks)) == []


def test_system_nodes_stand_in_every_zone_of_the_cluster() -> None:
    zones = {variant: zones_of_system_nodes(stacks_of(plan_of(variant))) for variant in ("reference", "every-option")}
    assert zones["reference"] == ["us-west-2a", "us-west-2b"]
    assert zones["every-option"] == ["usw2-az1", "usw2-az2", "usw2-az3"]


@pytest.mark.parametrize("variant", CHANGES)
def test_the_head_fits_a_system_node(variant: str) -> None:
    stacks = stacks_of(plan_of(variant))
    nodes, pod = system_nodes(stacks), head(applied(stacks, "workload"))["spec"]
    assert pod["nodeSelector"].items() <= {**nodes["Labels"], "kubernetes.io/arch": "amd64"}.items()
    assert "Taints" not in nodes
    instance = described()[nodes["InstanceTypes"][0]]
    requests = pod["containers"][0]["resources"]["requests"]
    # A core and 2 GiB are left to the operators, the balancer's controller and CoreDNS.
    assert int(requests["cpu"]) + 1 <= cpu_left(instance["VCpuInfo"]["DefaultVCpus"])
    needed_mib = (int(requests["memory"].removesuffix("Gi")) + 2) * 1024
    assert needed_mib <= memory_left(instance["MemoryInfo"]["SizeInMiB"])


def workers(manifests: list[Data], phase: str) -> Data:
    groups = only(manifests, "RayService")["spec"]["rayClusterConfig"]["workerGroupSpecs"]
    (found,) = [group for group in groups if group["groupName"] == phase]
    return dict(found)


def resources(manifests: list[Data], phase: str) -> Data:
    return dict(workers(manifests, phase)["template"]["spec"]["containers"][0]["resources"])


def head(manifests: list[Data]) -> Data:
    cluster = only(manifests, "RayService")["spec"]["rayClusterConfig"]
    return dict(cluster["headGroupSpec"]["template"])


# What is changed in one half after both were written, and what the comparison then says.
PLANTED: dict[str, tuple[Callable[[Data, list[Data]], Any], str]] = {
    "a label that nodes lack": (
        lambda template, _: node_group(template, "decode")["Labels"].pop("constructs-pd/deployment"),
        "decode: its pods select",
    ),
    "nodes of another zone": (
        lambda _, manifests: workers(manifests, "decode")["template"]["spec"]["nodeSelector"].update(
            {"topology.kubernetes.io/zone": "us-west-2b"}
        ),
        "decode: its pods select",
    ),
    "pods of both phases on the same nodes": (
        lambda _, manifests: workers(manifests, "decode")["template"]["spec"]["nodeSelector"].pop("constructs-pd/role"),
        "decode: its pods select the other phase's nodes",
    ),
    "a taint without its toleration": (
        lambda template, _: node_group(template, "prefill")["Taints"].append(
            {"Key": "dedicated", "Value": "x", "Effect": "NO_EXECUTE"}
        ),
        "prefill: its pods do not tolerate ('dedicated', 'x', 'NoExecute')",
    ),
    "no taint at all": (
        lambda template, _: node_group(template, "prefill").update({"Taints": []}),
        "prefill: the head fits its nodes",
    ),
    "a head on a GPU node": (
        lambda _, manifests: head(manifests)["spec"].update({"nodeSelector": {"kubernetes.io/arch": "amd64"}}),
        "prefill: the head fits its nodes",
    ),
    "an adapter too few": (
        lambda template, _: launch_template(template, "decode")["NetworkInterfaces"].pop(),
        "decode: 1 vpc.amazonaws.com/efa of 0",
    ),
    "another instance type": (
        lambda template, _: node_group(template, "decode").update({"InstanceTypes": ["g6.12xlarge"]}),
        "decode: 1 nvidia.com/gpu of 4",
    ),
    "a GPU that is requested and not limited": (
        lambda _, manifests: resources(manifests, "decode")["limits"].update({"nvidia.com/gpu": "0"}),
        "decode: 0 nvidia.com/gpu of 1",
    ),
    "a check before it starts that has no adapter": (
        lambda _, manifests: workers(manifests, "decode")["template"]["spec"]["initContainers"][0].update(
            {"resources": {"limits": {"cpu": "1"}}}
        ),
        "decode: efa-check asks for {'cpu': '1'}",
    ),
    "more cores than there are": (
        lambda _, manifests: resources(manifests, "decode")["limits"].update({"cpu": "32"}),
        "decode: 32 cores of 32",
    ),
    "so little memory that two pods have room": (
        lambda _, manifests: resources(manifests, "decode")["limits"].update({"memory": "50Gi"}),
        "decode: 51200 MiB of 119677",
    ),
    "more memory than the kubelet leaves": (
        lambda _, manifests: resources(manifests, "decode")["limits"].update({"memory": "127Gi"}),
        "decode: 130048 MiB of 119677",
    ),
    "a node too few": (
        lambda template, _: node_group(template, "decode")["ScalingConfig"].update({"DesiredSize": 0, "MinSize": 0}),
        "decode: 1 pods, 0 nodes",
    ),
    "no room for an upgrade": (
        lambda _, manifests: only(manifests, "RayService")["spec"]["upgradeStrategy"].update({"type": "NewCluster"}),
        "decode: 1 to 1 nodes, an upgrade takes 2",
    ),
    "another name": (
        lambda template, _: node_group(template, "decode")["Tags"].update({"Name": "other-decode"}),
        "decode: its nodes are called other-decode, the service qwen35-9b",
    ),
}


@pytest.mark.parametrize(("plant", "expected"), PLANTED.values(), ids=PLANTED)
def test_the_comparison_notices(plant: Callable[[Data, list[Data]], Any], expected: str) -> None:
    plan = plan_with()
    template, manifests = synthesized(plan), whole_deployment(plan)
    plant(template, manifests)
    found = disagreements(template, manifests, plan.availability_zone)
    assert any(text.startswith(expected) for text in found), found


@pytest.mark.parametrize("version", ["1.34", "1.35", "1.36"])
def test_the_nodes_have_the_version_that_the_manifests_were_written_for(version: str) -> None:
    template = synthesized(plan_with({"kubernetes_version": version}))
    assert {node_group(template, phase)["Version"] for phase in ("prefill", "decode")} == {version}


def test_the_private_registry_lies_in_the_stacks_region() -> None:
    plan = plan_with({"region": "eu-south-2", "availability_zone": "eu-south-2a"})
    (container,) = head(whole_deployment(plan))["spec"]["containers"]
    assert ".dkr.ecr.eu-south-2.amazonaws.com/" in container["image"]
