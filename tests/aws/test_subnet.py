"""One subnet, in the plan's zone, or one clear error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Fn, Stack, aws_ec2, aws_ssm

from constructs_pd import EksGpuNodeGroups, ExistingCluster, ExistingSubnet, PlanError
from support.specs import plan_with
from support.template import CLUSTER, SUBNET_ID, node_group, stack, template_of

UNCOMPARABLE = (
    "the subnet's zone 'us-west-2a' and the plan's 'usw2-az1' cannot be compared: one is a name, the other an id"
)
OTHER_ID = "subnet-0123456789abcdef1"


def imported(scope: Stack, zone: str | None) -> aws_ec2.ISubnet:
    return aws_ec2.Subnet.from_subnet_attributes(scope, "subnet", subnet_id=SUBNET_ID, availability_zone=zone)


def vpc(scope: Stack) -> aws_ec2.IVpc:
    return aws_ec2.Vpc.from_vpc_attributes(
        scope,
        "vpc",
        vpc_id=CLUSTER.vpc_id,
        availability_zones=["us-west-2a", "us-west-2b"],
        private_subnet_ids=[SUBNET_ID, OTHER_ID],
    )


def make(subnet: Callable[[Stack], Any], zone: str = "us-west-2a") -> Stack:
    plan = plan_with({"availability_zone": zone})
    scope = stack(plan)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet(scope))
    return scope


@pytest.mark.parametrize(
    ("subnet", "zone"),
    [
        (lambda scope: imported(scope, "us-west-2a"), "us-west-2a"),
        (lambda scope: vpc(scope).private_subnets[0], "us-west-2a"),
        (lambda _: ExistingSubnet(SUBNET_ID, "us-west-2a"), "us-west-2a"),
        (lambda _: ExistingSubnet(SUBNET_ID, "usw2-az1"), "usw2-az1"),
    ],
)
def test_a_subnet_in_the_zone(subnet: Callable[[Stack], Any], zone: str) -> None:
    assert node_group(template_of(make(subnet, zone)), "decode")["Subnets"] == [SUBNET_ID]


def test_an_id_may_be_known_at_deploy_time_only() -> None:
    scope = make(lambda scope: ExistingSubnet(CfnParameter(scope, "Subnet").value_as_string, "us-west-2a"))
    assert node_group(template_of(scope), "decode")["Subnets"] == [{"Ref": "Subnet"}]


@pytest.mark.parametrize(
    ("subnet", "zone", "code", "message"),
    [
        (lambda scope: vpc(scope).private_subnets, "us-west-2a", "PD508", "2 subnets in a list, GPU nodes stand in 1"),
        (
            lambda scope: vpc(scope).select_subnets(),
            "us-west-2a",
            "PD508",
            "2 subnets in a SelectedSubnets, GPU nodes stand in 1",
        ),
        (lambda _: (), "us-west-2a", "PD508", "0 subnets in a tuple, GPU nodes stand in 1"),
        (lambda _: None, "us-west-2a", "PD508", "0 subnets in a NoneType, GPU nodes stand in 1"),
        (lambda _: ExistingSubnet(None, "us-west-2a"), "us-west-2a", "PD507", "None is not a subnet id"),  # type: ignore[arg-type]
        (lambda _: SUBNET_ID, "us-west-2a", "PD508", f"the subnet is given as '{SUBNET_ID}', without its zone"),
        (
            lambda scope: vpc(scope).private_subnets[1],
            "us-west-2a",
            "PD509",
            "the subnet lies in 'us-west-2b', the plan's zone is 'us-west-2a'",
        ),
        (
            lambda _: ExistingSubnet(SUBNET_ID, "usw2-az2"),
            "usw2-az1",
            "PD509",
            "the subnet lies in 'usw2-az2', the plan's zone is 'usw2-az1'",
        ),
        (
            lambda scope: imported(scope, "us-west-2a"),
            "usw2-az1",
            "PD509",
            UNCOMPARABLE,
        ),
        (
            lambda scope: imported(scope, None),
            "us-west-2a",
            "PD509",
            "the zone of the subnet is not known before it is deployed, the plan's is 'us-west-2a'",
        ),
        (
            lambda scope: imported(scope, Fn.select(0, Fn.get_azs())),
            "us-west-2a",
            "PD509",
            "the zone of the subnet is not known before it is deployed, the plan's is 'us-west-2a'",
        ),
        (
            lambda _: ExistingSubnet("subnet-1", "us-west-2a"),
            "us-west-2a",
            "PD507",
            "'subnet-1' is not a subnet id",
        ),
    ],
)
def test_anything_else_is_refused(subnet: Callable[[Stack], Any], zone: str, code: str, message: str) -> None:
    with pytest.raises(PlanError) as caught:
        make(subnet, zone)
    (finding,) = caught.value.findings
    assert (finding.code, finding.subject, finding.message) == (code, "qwen35-9b/gpu", message)
    assert finding.remedy


def test_a_vpc_of_a_stack_without_a_region_has_no_zone_yet() -> None:
    plan = plan_with()
    scope = Stack(App(), "anywhere")
    own = aws_ec2.Vpc(scope, "vpc")
    with pytest.raises(PlanError, match=r"PD509 .* is not known before it is deployed"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=own.private_subnets[0])


def test_a_vpc_with_stated_zones_has() -> None:
    plan = plan_with()
    scope = Stack(App(), "own", env=Environment(region=plan.region))
    own = aws_ec2.Vpc(scope, "vpc", availability_zones=["us-west-2a", "us-west-2b"])
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=own.private_subnets[0])
    assert "Ref" in node_group(template_of(scope), "decode")["Subnets"][0]


@pytest.mark.parametrize(("name", "refused"), [("p5.48xlarge", True), ("g6.8xlarge", False)])
def test_a_public_subnet_takes_nodes_with_one_interface_only(name: str, refused: bool) -> None:
    plan = plan_with({"prefill.instance_type": name, "decode.instance_type": name})
    scope = stack(plan)
    own = aws_ec2.PublicSubnet(
        scope, "public", availability_zone="us-west-2a", cidr_block="10.0.0.0/24", vpc_id=CLUSTER.vpc_id
    )

    def make() -> None:
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=own)

    if not refused:
        make()
        return
    with pytest.raises(
        PlanError,
        match=r"PD514 error .*: the subnet is public, and a node with 33 network interfaces",
    ):
        make()


@pytest.mark.parametrize("found", ["attributes", "lookup"])
def test_a_public_subnet_is_known_by_its_vpc(found: str) -> None:
    plan = plan_with({"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"})
    scope = stack(plan)
    theirs = (
        aws_ec2.Vpc.from_vpc_attributes(
            scope,
            "vpc",
            vpc_id=CLUSTER.vpc_id,
            availability_zones=["us-west-2a"],
            public_subnet_ids=[SUBNET_ID],
        )
        if found == "attributes"
        else aws_ec2.Vpc.from_lookup(scope, "vpc", vpc_id=CLUSTER.vpc_id)
    )
    with pytest.raises(PlanError, match="PD514"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=theirs.public_subnets[0])


def test_a_subnet_of_another_vpc_is_refused() -> None:
    def with_vpc(scope: Stack, vpc_id: str) -> aws_ec2.ISubnet:
        other = aws_ec2.Vpc.from_vpc_attributes(
            scope, "v", vpc_id=vpc_id, availability_zones=["us-west-2a"], private_subnet_ids=[SUBNET_ID]
        )
        return other.private_subnets[0]

    make(lambda scope: with_vpc(scope, CLUSTER.vpc_id))
    with pytest.raises(PlanError, match="PD515 error qwen35-9b/gpu: the subnet is of the VPC qwen35-9b/v, the cluster"):
        make(lambda scope: with_vpc(scope, "vpc-0123456789abcdef9"))


def test_nodes_start_after_the_way_out_of_their_subnet() -> None:
    plan = plan_with()
    scope = stack(plan)
    own = aws_ec2.PrivateSubnet(
        scope, "own", availability_zone="us-west-2a", cidr_block="10.0.0.0/24", vpc_id=CLUSTER.vpc_id
    )
    own.add_default_nat_route("nat-0123456789abcdef0")
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=own)
    template = template_of(scope)
    (route,) = [name for name, found in template["Resources"].items() if found["Type"] == "AWS::EC2::Route"]
    groups = [found for found in template["Resources"].values() if found["Type"] == "AWS::EKS::Nodegroup"]
    assert all(route in group["DependsOn"] for group in groups)


def test_a_subnet_that_the_cli_has_yet_to_look_up_passes_until_it_has() -> None:
    plan = plan_with()
    scope = stack(plan)
    looked_up = aws_ec2.Vpc.from_lookup(scope, "vpc", vpc_id="vpc-0123456789abcdef9")
    parameter = aws_ssm.StringParameter.value_from_lookup(scope, "/eks/security-group")
    cluster = ExistingCluster(name=CLUSTER.name, security_group_id=parameter, vpc_id=looked_up.vpc_id)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=looked_up.private_subnets[0])
    assert looked_up.private_subnets[0].availability_zone == "dummy1a"
    assert node_group(template_of(scope), "decode")["Subnets"] == ["p-12345"]
