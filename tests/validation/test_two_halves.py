"""The template and the manifests of one specification agree, read from what each half wrote.

What EKS, the device plugins and the kubelet make of a node group is computed here from the template alone and EC2's
own description of the instance type (moto), then compared with what the pods ask for in the manifests alone.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

import pytest

from support.rendered import only as only_manifest
from support.rendered import whole_deployment
from support.specs import VARIANTS, plan_with
from support.template import launch_template, node_group, subnet_of, synthesized

PHASES = ("prefill", "decode")
# EKS's names of taint effects, as Kubernetes writes them.
EFFECTS = {"NO_SCHEDULE": "NoSchedule", "NO_EXECUTE": "NoExecute", "PREFER_NO_SCHEDULE": "PreferNoSchedule"}
AMI_ARCHITECTURES = {"AL2023_x86_64_NVIDIA": "amd64"}
GIB = 1024


@cache
def ec2(instance_type: str) -> dict[str, Any]:
    packed = files("moto").joinpath("ec2/resources/instance_types.json.gz").read_bytes()
    described: dict[str, Any] = json.loads(gzip.decompress(packed))[instance_type]
    return described


@dataclass(frozen=True)
class Nodes:
    """What a node group gives Kubernetes: labels, taints, capacity and number of its nodes."""

    labels: dict[str, str]
    taints: set[tuple[str, str, str]]
    capacity: dict[str, int]
    desired: int
    fewest: int
    most: int


@dataclass(frozen=True)
class Both:
    """Both halves of one specification; the zone is the one of the subnet that the node groups were given."""

    template: dict[str, Any]
    manifests: list[dict[str, Any]]
    zone: str

    def nodes(self, phase: str) -> Nodes:
        group, launch = node_group(self.template, phase), launch_template(self.template, phase)
        (instance_type,) = group.get("InstanceTypes") or [launch["InstanceType"]]
        described = ec2(instance_type)
        zone_key = "topology.k8s.aws/zone-id" if "-az" in self.zone else "topology.kubernetes.io/zone"
        return Nodes(
            labels={
                **group["Labels"],
                "kubernetes.io/arch": AMI_ARCHITECTURES.get(group.get("AmiType", ""), "amd64"),
                zone_key: self.zone,
            },
            taints={(taint["Key"], taint["Value"], EFFECTS[taint["Effect"]]) for taint in group["Taints"]},
            capacity={
                "nvidia.com/gpu": described["GpuInfo"]["Gpus"][0]["Count"],
                "vpc.amazonaws.com/efa": sum(
                    interface["InterfaceType"] in ("efa", "efa-only") for interface in launch["NetworkInterfaces"]
                ),
                "cpu": described["VCpuInfo"]["DefaultVCpus"],
                "memory_mib": described["MemoryInfo"]["SizeInMiB"],
                "disk_gib": launch["BlockDeviceMappings"][0]["Ebs"]["VolumeSize"],
            },
            desired=group["ScalingConfig"]["DesiredSize"],
            fewest=group["ScalingConfig"]["MinSize"],
            most=group["ScalingConfig"]["MaxSize"],
        )

    @property
    def service(self) -> dict[str, Any]:
        return only_manifest(self.manifests, "RayService")

    def worker_group(self, phase: str) -> dict[str, Any]:
        groups = self.service["spec"]["rayClusterConfig"]["workerGroupSpecs"]
        (found,) = [group for group in groups if group["groupName"] == phase]
        assert isinstance(found, dict)
        return found

    def pod(self, phase: str) -> dict[str, Any]:
        pod: dict[str, Any] = self.worker_group(phase)["template"]["spec"]
        return pod

    def head(self) -> dict[str, Any]:
        pod: dict[str, Any] = self.service["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]["spec"]
        return pod


@pytest.fixture(scope="module", params=list(VARIANTS.values()), ids=list(VARIANTS))
def both(request: pytest.FixtureRequest) -> Both:
    plan = plan_with(request.param)
    return Both(synthesized(plan), whole_deployment(plan), subnet_of(plan).availability_zone)


def tolerates(pod: dict[str, Any], taint: tuple[str, str, str]) -> bool:
    key, value, effect = taint
    return any(
        toleration.get("key") == key
        and toleration.get("effect") in (effect, None)
        and (toleration.get("operator") == "Exists" or toleration.get("value") == value)
        for toleration in pod.get("tolerations", [])
    )


@pytest.mark.parametrize("phase", PHASES)
def test_a_pod_selects_the_nodes_of_its_phase_by_labels_that_they_carry(both: Both, phase: str) -> None:
    assert both.pod(phase)["nodeSelector"].items() <= both.nodes(phase).labels.items()


@pytest.mark.parametrize(("phase", "other"), [PHASES, PHASES[::-1]])
def test_a_pod_fits_no_node_of_the_other_phase(both: Both, phase: str, other: str) -> None:
    assert not both.pod(phase)["nodeSelector"].items() <= both.nodes(other).labels.items()


@pytest.mark.parametrize("phase", PHASES)
def test_a_pod_tolerates_every_taint_of_its_nodes_and_the_head_none(both: Both, phase: str) -> None:
    taints = both.nodes(phase).taints
    assert taints
    assert all(tolerates(both.pod(phase), taint) for taint in taints)
    assert not any(tolerates(both.head(), taint) for taint in taints)


@pytest.mark.parametrize("phase", PHASES)
def test_the_head_does_not_select_gpu_nodes(both: Both, phase: str) -> None:
    assert not both.head()["nodeSelector"].items() <= both.nodes(phase).labels.items()


@pytest.mark.parametrize("phase", PHASES)
def test_a_pod_takes_every_gpu_and_every_adapter_of_its_node(both: Both, phase: str) -> None:
    (container,) = both.pod(phase)["containers"]
    limits, capacity = container["resources"]["limits"], both.nodes(phase).capacity
    for resource in ("nvidia.com/gpu", "vpc.amazonaws.com/efa"):
        assert int(limits[resource]) == capacity[resource]
        assert container["resources"]["requests"][resource] == limits[resource]


@pytest.mark.parametrize("phase", PHASES)
def test_a_pod_fits_its_node_and_no_second_one_does(both: Both, phase: str) -> None:
    (container,) = both.pod(phase)["containers"]
    limits, capacity = container["resources"]["limits"], both.nodes(phase).capacity
    cores, memory_gib = int(limits["cpu"]), int(limits["memory"].removesuffix("Gi"))
    assert capacity["cpu"] / 2 < cores < capacity["cpu"]
    assert capacity["memory_mib"] / 2 < memory_gib * GIB < capacity["memory_mib"]


@pytest.mark.parametrize("phase", PHASES)
def test_there_is_a_node_for_every_pod_and_every_engine(both: Both, phase: str) -> None:
    group, nodes = both.worker_group(phase), both.nodes(phase)
    assert group["replicas"] == group["minReplicas"] == group["maxReplicas"] == nodes.desired
    assert nodes.fewest <= nodes.desired <= nodes.most
    if both.service["spec"]["upgradeStrategy"]["type"] == "NewCluster":
        assert nodes.most >= 2 * nodes.desired


@pytest.mark.parametrize("phase", PHASES)
def test_names_agree(both: Both, phase: str) -> None:
    name = both.service["metadata"]["name"]
    assert node_group(both.template, phase)["Tags"]["Name"] == f"{name}-{phase}"
    assert both.nodes(phase).labels["constructs-pd/deployment"] == name
    assert both.service["metadata"]["labels"]["constructs-pd/deployment"] == name


def test_versions_agree_with_the_plan_and_each_other() -> None:
    for version in ("1.34", "1.35", "1.36"):
        plan = plan_with({"kubernetes_version": version})
        assert {node_group(synthesized(plan), phase)["Version"] for phase in PHASES} == {version}


def test_the_private_registry_is_in_the_stacks_region() -> None:
    plan = plan_with({"region": "eu-south-2", "availability_zone": "eu-south-2a"})
    image = only_manifest(whole_deployment(plan), "RayService")["spec"]["rayClusterConfig"]["headGroupSpec"]["template"]
    assert ".dkr.ecr.eu-south-2.amazonaws.com/" in image["spec"]["containers"][0]["image"]


@pytest.mark.parametrize(
    ("phase", "change"),
    [
        ("decode", lambda group, _: group["Labels"].update({"constructs-pd/role": "prefil"})),
        ("decode", lambda group, _: group["Labels"].pop("constructs-pd/deployment")),
        ("prefill", lambda group, _: group["Taints"].append({"Key": "x", "Value": "y", "Effect": "NO_EXECUTE"})),
        ("prefill", lambda _, launch: launch["NetworkInterfaces"].pop()),
        ("decode", lambda group, _: group["InstanceTypes"].__setitem__(0, "g6.12xlarge")),
    ],
)
def test_the_comparison_notices_a_difference(phase: str, change: Any) -> None:
    plan = plan_with()
    both = Both(synthesized(plan), whole_deployment(plan), plan.availability_zone)
    group, launch = node_group(both.template, phase), launch_template(both.template, phase)
    change(group, launch)
    pod = both.pod(phase)
    try:
        nodes = both.nodes(phase)
    except ValueError:  # the group is not found by its label any more
        return
    (container,) = pod["containers"]
    agrees = (
        pod["nodeSelector"].items() <= nodes.labels.items()
        and all(tolerates(pod, taint) for taint in nodes.taints)
        and int(container["resources"]["limits"]["vpc.amazonaws.com/efa"]) == nodes.capacity["vpc.amazonaws.com/efa"]
        and int(container["resources"]["limits"]["nvidia.com/gpu"]) == nodes.capacity["nvidia.com/gpu"]
    )
    assert not agrees
