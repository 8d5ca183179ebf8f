"""`cdk bootstrap` and `cdk deploy` through the real CLI, as far as moto carries them.

moto makes a network, and of GPU nodes what EC2 and IAM hold; it leaves out whatever is EKS's. What it leaves out is
listed in docs/deploy.md, which is compared with its log here.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from support.moto_server import ACCOUNT, REGION, Moto, moto_server
from support.processes import ROOT, python
from support.specs import REFERENCE_FILE

# What the bootstrap stack of the CDK itself has.
OF_THE_BOOTSTRAP = {"AWS::S3::BucketPolicy"}
DIRECT = ("--method=direct", "--require-approval", "never")


@pytest.fixture(scope="module")
def moto(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Moto]:
    with moto_server(tmp_path_factory.mktemp("moto")) as server:
        server.cdk("bootstrap", f"aws://{ACCOUNT}/{REGION}")
        yield server


def synthesized(specification: Path, folder: Path) -> Path:
    done = python("tools/synth.py", str(specification), "--output", str(folder))
    assert done.returncode == 0, done.stderr
    return folder / "cdk.out"


@pytest.fixture(scope="module")
def network(moto: Moto, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The outputs of the deployed network."""
    folder = tmp_path_factory.mktemp("new")
    assembly, outputs = synthesized(REFERENCE_FILE, folder), folder / "outputs.json"
    moto.cdk("deploy", "--app", str(assembly), "qwen35-9b-network", *DIRECT, "--outputs-file", str(outputs))
    found: dict[str, str] = json.loads(outputs.read_text(encoding="utf-8"))["qwen35-9b-network"]
    return found


@pytest.fixture(scope="module")
def gpu_nodes(moto: Moto, network: dict[str, str]) -> dict[str, str]:
    """What the GPU nodes were told of that network and of a cluster in it, deployed."""
    group = moto.client("ec2").create_security_group(
        GroupName="cluster", Description="what EKS would make", VpcId=network["VpcId"]
    )
    told = {"GROUP_ID": group["GroupId"], "VPC_ID": network["VpcId"], "SUBNET_ID": network["GpuSubnetId"]}
    app = f"{sys.executable} {ROOT / 'tests' / 'support' / 'gpu_nodes_app.py'}"
    moto.cdk("deploy", "--app", app, *DIRECT, PYTHONPATH=f"{ROOT / 'tests'}:{ROOT}", **told)
    return told


def test_the_network_is_there(moto: Moto, network: dict[str, str]) -> None:
    ec2 = moto.client("ec2")
    mine = [{"Name": "vpc-id", "Values": [network["VpcId"]]}]
    (vpc,) = ec2.describe_vpcs(VpcIds=[network["VpcId"]])["Vpcs"]
    assert vpc["CidrBlock"] == "10.0.0.0/16"
    subnets = ec2.describe_subnets(Filters=mine)["Subnets"]
    assert {subnet["CidrBlock"]: subnet["AvailabilityZone"] for subnet in subnets} == {
        "10.0.0.0/18": "us-west-2a",
        "10.0.64.0/18": "us-west-2b",
        "10.0.192.0/22": "us-west-2a",
        "10.0.196.0/22": "us-west-2b",
    }
    (gateway,) = ec2.describe_nat_gateways(Filter=mine)["NatGateways"]
    zones = {subnet["SubnetId"]: subnet["AvailabilityZone"] for subnet in subnets}
    assert zones[gateway["SubnetId"]] == zones[network["GpuSubnetId"]] == "us-west-2a"


def test_private_subnets_go_out_through_the_nat_gateway_and_past_it_to_s3(moto: Moto, network: dict[str, str]) -> None:
    ec2 = moto.client("ec2")
    mine = [{"Name": "vpc-id", "Values": [network["VpcId"]]}]
    tables = ec2.describe_route_tables(Filters=mine)["RouteTables"]
    through_nat = {
        table["RouteTableId"] for table in tables if any(route.get("NatGatewayId") for route in table["Routes"])
    }
    (endpoint,) = ec2.describe_vpc_endpoints(Filters=mine)["VpcEndpoints"]
    assert endpoint["ServiceName"] == "com.amazonaws.us-west-2.s3"
    assert len(through_nat) == 2
    assert set(endpoint["RouteTableIds"]) == through_nat


def test_the_launch_templates_are_there_with_their_adapters(moto: Moto, gpu_nodes: dict[str, str]) -> None:
    ec2 = moto.client("ec2")
    names = [found["LaunchTemplateId"] for found in ec2.describe_launch_templates()["LaunchTemplates"]]
    assert len(names) == 2
    for name in names:
        (version,) = ec2.describe_launch_template_versions(LaunchTemplateId=name)["LaunchTemplateVersions"]
        data = version["LaunchTemplateData"]
        (interface,) = data["NetworkInterfaces"]
        assert (interface["InterfaceType"], interface["DeviceIndex"]) == ("efa", 0)
        groups = ec2.describe_security_groups(GroupIds=interface["Groups"])["SecurityGroups"]
        assert {group["VpcId"] for group in groups} == {gpu_nodes["VPC_ID"]}
        assert gpu_nodes["GROUP_ID"] in interface["Groups"]
        assert data["MetadataOptions"]["HttpTokens"] == "required"


def test_whatever_has_the_group_may_speak_to_whatever_has_it(moto: Moto, gpu_nodes: dict[str, str]) -> None:
    mine = [{"Name": "vpc-id", "Values": [gpu_nodes["VPC_ID"]]}]
    found = moto.client("ec2").describe_security_groups(Filters=mine)["SecurityGroups"]
    (own,) = [group for group in found if group["GroupName"] not in ("default", "cluster")]
    (rule,) = own["IpPermissions"]
    assert rule["IpProtocol"] == "-1"
    assert [pair["GroupId"] for pair in rule["UserIdGroupPairs"]] == [own["GroupId"]]


def test_the_nodes_role_is_there(moto: Moto, gpu_nodes: dict[str, str]) -> None:
    iam = moto.client("iam")
    (role,) = [role for role in iam.list_roles()["Roles"] if role.get("Description") == "GPU nodes of qwen35-9b"]
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert statement["Principal"] == {"Service": "ec2.amazonaws.com"}
    assert gpu_nodes


def test_what_was_left_out_is_what_the_docs_say(moto: Moto, gpu_nodes: dict[str, str]) -> None:
    page = (ROOT / "docs" / "deploy.md").read_text(encoding="utf-8")
    (line,) = [line for line in page.splitlines() if line.startswith("| left out in silence |")]
    documented = set(re.findall(r"`(AWS::[A-Za-z0-9:]+)`", line))
    met = moto.ignored() - OF_THE_BOOTSTRAP - {"AWS::CDK::Metadata"}
    assert met == {"AWS::EKS::Nodegroup", "AWS::EC2::SecurityGroupEgress"}
    assert met <= documented
    assert gpu_nodes


def test_a_second_deployment_changes_nothing(moto: Moto, network: dict[str, str], tmp_path: Path) -> None:
    assembly = synthesized(REFERENCE_FILE, tmp_path)
    said = moto.cdk("deploy", "--app", str(assembly), "qwen35-9b-network", *DIRECT)
    assert "(no changes)" in said
    vpcs: list[Any] = moto.client("ec2").describe_vpcs()["Vpcs"]
    assert [vpc["VpcId"] for vpc in vpcs if not vpc["IsDefault"]] == [network["VpcId"]]
