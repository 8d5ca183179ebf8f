"""The stacks of deployments from an empty account, made in this process by the reference app."""

from __future__ import annotations

import json
import tarfile
from importlib.resources import files
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from aws_cdk import App
from new_cluster import new_cluster

from constructs_pd import DeploymentPlan, EksAddOns, EksCluster, EksGpuNodeGroups, EksNetwork
from support.specs import plan_with
from support.template import TemplateData, stack, template_of

ZONES = ["us-west-2b"]
CHANGES: dict[str, dict[str, Any]] = {
    "reference": {"eks_cluster": {"other_zones": ZONES}, "model_cache.storage": "efs"},
    "bare": {"eks_cluster": {"other_zones": ZONES}, "model_cache": None, "endpoint": None, "namespace": None},
    "every-option": {
        "availability_zone": "usw2-az1",
        "kubernetes_version": "1.36",
        "eks_cluster": {
            "name": "Platform_1",
            "other_zones": ["usw2-az2", "usw2-az3"],
            "vpc_cidr": "172.20.0.0/18",
            "nat_gateways": "per_zone",
            "interface_endpoints": ["ecr.api", "ecr.dkr", "eks-auth", "logs"],
            "public_access_cidrs": ["8.8.8.8/32", "9.9.9.0/24"],
            "log_retention_days": 365,
            "system_nodes": {"instance_type": "m6i.2xlarge", "count": 3},
            "addon_versions": {"coredns": "v1.14.7-eksbuild.11"},
        },
        "model_cache.storage": "efs",
        "head.node_selector": {"pool": "cpu"},
        "nodes": {"vpc_cni_role": "node", "tags": {"cost-center": "7"}},
    },
}
STACKS = ("network", "cluster", "add-ons", "gpu-nodes", "workload")
Stacks = dict[str, TemplateData]


def plan_of(variant: str, changes: dict[str, Any] | None = None) -> DeploymentPlan:
    """Return the plan of one of the deployments, perhaps with something else changed."""
    return plan_with({**CHANGES[variant], **(changes or {})})


def stacks_of(plan: DeploymentPlan, context: dict[str, Any] | None = None) -> Stacks:
    """Return the template of each stack, by the part of its name after the deployment's, in an app with a context."""
    with TemporaryDirectory() as folder:
        app = App(outdir=folder, analytics_reporting=False, context=context)
        new_cluster(app, plan)
        app.synth()
        return {
            name: json.loads((Path(folder) / f"{plan.name}-{name}.template.json").read_text(encoding="utf-8"))
            for name in STACKS
        }


def one_stack(plan: DeploymentPlan, *, by_its_cluster: bool = False) -> Stacks:
    """Return the one stack of an app that puts everything but the workload into it.

    Args:
        plan: The plan to render.
        by_its_cluster: Pass what stands in `EksCluster.cluster`, instead of the EksCluster itself.
    """
    scope = stack(plan)
    network = EksNetwork(scope, "network", plan=plan)
    cluster = EksCluster(scope, "cluster", plan=plan, network=network)
    passed = cluster.cluster if by_its_cluster else cluster
    EksAddOns(scope, "add-ons", plan=plan, cluster=passed)
    EksGpuNodeGroups(scope, "gpu-nodes", plan=plan, cluster=passed, subnet=network.gpu_subnet)
    return {"all": template_of(scope)}


def recommended_flags() -> dict[str, Any]:
    """Return what `cdk init` writes into a new app's cdk.json, as the CDK carries it."""
    package = files("aws_cdk").joinpath("_jsii")
    (archive,) = [file for file in package.iterdir() if file.name.endswith(".tgz")]
    with tarfile.open(fileobj=BytesIO(archive.read_bytes())) as unpacked:
        text = unpacked.extractfile("package/recommended-feature-flags.json")
        assert text is not None
        flags: dict[str, Any] = json.loads(text.read())
    return flags


def zone_of_gpu_nodes(stacks: Stacks) -> str:
    """Return the zone in which the GPU nodes stand."""
    groups = [found["Properties"] for found in _of_type(stacks["gpu-nodes"], "AWS::EKS::Nodegroup")]
    (zone,) = {zone for group in groups for zone in _zones_of(stacks, group)}
    return zone


def zones_of_system_nodes(stacks: Stacks) -> list[str]:
    """Return the zones over which EKS spreads the nodes of the cluster's own pods."""
    return _zones_of(stacks, system_nodes(stacks))


def _zones_of(stacks: Stacks, group: dict[str, Any]) -> list[str]:
    """Return the zones of a node group's subnets, through the exports that it imports."""
    outputs = stacks["network"]["Outputs"].values()
    exported = {each["Export"]["Name"]: each["Value"]["Ref"] for each in outputs if "Export" in each}
    names = [exported[subnet["Fn::ImportValue"]] for subnet in group["Subnets"]]
    subnets = [stacks["network"]["Resources"][name]["Properties"] for name in names]
    return [str(subnet.get("AvailabilityZone", subnet.get("AvailabilityZoneId"))) for subnet in subnets]


def system_nodes(stacks: Stacks) -> dict[str, Any]:
    """Return the node group of the cluster's own pods."""
    (found,) = _of_type(stacks["cluster"], "AWS::EKS::Nodegroup")
    properties: dict[str, Any] = found["Properties"]
    return properties


def _of_type(template: TemplateData, kind: str) -> list[dict[str, Any]]:
    return [found for found in template["Resources"].values() if found["Type"] == kind]


def stack_dependencies(plan: DeploymentPlan) -> dict[str, set[str]]:
    """Return what each stack waits for, as the CLI reads it from the assembly."""
    with TemporaryDirectory() as folder:
        app = App(outdir=folder, analytics_reporting=False)
        new_cluster(app, plan)
        assembly = app.synth()
        prefix = f"{plan.name}-"
        return {
            found.stack_name.removeprefix(prefix): {
                needed.id.removeprefix(prefix) for needed in found.dependencies if not needed.id.endswith(".assets")
            }
            for found in assembly.stacks
        }
