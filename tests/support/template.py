"""CloudFormation templates as the CDK writes them, made in this process."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from aws_cdk import App, Environment, Stack
from aws_cdk.assertions import Template

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, ExistingCluster, ExistingSubnet

TemplateData = dict[str, Any]
Resource = dict[str, Any]

CLUSTER = ExistingCluster(
    name="inference",
    security_group_id="sg-0123456789abcdef0",
    vpc_id="vpc-0123456789abcdef0",
    endpoint="https://0123456789ABCDEF0123456789ABCDEF.gr7.us-west-2.eks.amazonaws.com",
    certificate_authority_data="LS0tLS1CRUdJTiBDRVJUSUZJQ0FURQ==",
)
SUBNET_ID = "subnet-0123456789abcdef0"
# What the GPU nodes of the reference deployment are made of.
REFERENCE_KINDS = {
    "AWS::EC2::SecurityGroup": 1,
    "AWS::EC2::SecurityGroupIngress": 1,
    "AWS::EC2::SecurityGroupEgress": 1,
    "AWS::IAM::Role": 1,
    "AWS::EC2::PlacementGroup": 1,
    "AWS::EC2::LaunchTemplate": 2,
    "AWS::EKS::Nodegroup": 2,
}


def stack(plan: DeploymentPlan, app: App | None = None) -> Stack:
    """Return an empty stack in the plan's region, of an app of its own unless one is given."""
    return Stack(app or App(), plan.name, env=Environment(account="123456789012", region=plan.region))


def subnet_of(plan: DeploymentPlan) -> ExistingSubnet:
    """Return a subnet in the plan's zone."""
    return ExistingSubnet(subnet_id=SUBNET_ID, availability_zone=plan.availability_zone)


def node_groups(plan: DeploymentPlan) -> EksGpuNodeGroups:
    """Return the GPU nodes of a plan in a stack of its own, for a cluster given by names and ids."""
    return EksGpuNodeGroups(
        stack(plan), "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), service_cidr="10.100.0.0/16"
    )


def template_of(scope: Stack) -> TemplateData:
    """Return a stack's template; the tree must not change afterwards."""
    return dict(Template.from_stack(scope).to_json())


def synthesized(plan: DeploymentPlan) -> TemplateData:
    """Return the template of a plan's GPU nodes."""
    return template_of(Stack.of(node_groups(plan)))


def lookups(app: App) -> list[Any]:
    """Return what the CLI would look up in AWS, and run the app again."""
    app.synth()
    manifest = json.loads((Path(app.outdir) / "manifest.json").read_text(encoding="utf-8"))
    return list(manifest.get("missing", []))


def resources(template: TemplateData, kind: str) -> list[Resource]:
    """Return the properties of every resource of a type, in the template's order."""
    return [found["Properties"] for found in template["Resources"].values() if found["Type"] == kind]


def only(template: TemplateData, kind: str) -> Resource:
    """Return the properties of the one resource of a type."""
    (found,) = resources(template, kind)
    return found


def node_group(template: TemplateData, phase: str) -> Resource:
    """Return a phase's node group, found by its label."""
    groups = resources(template, "AWS::EKS::Nodegroup")
    (found,) = [group for group in groups if group["Labels"]["constructs-pd/role"] == phase]
    return found


def launch_template(template: TemplateData, phase: str) -> Resource:
    """Return the data of the launch template that a phase's node group names."""
    logical_id = node_group(template, phase)["LaunchTemplate"]["Id"]["Ref"]
    data: Resource = template["Resources"][logical_id]["Properties"]["LaunchTemplateData"]
    return data
