"""The network as the template has it."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from aws_cdk import App, Environment, Stack, aws_ec2

from constructs_pd import EksNetwork, PlanError
from support.new_cluster import CHANGES, plan_of
from support.specs import plan_with
from support.template import TemplateData, lookups, only, resources, stack, template_of


def network(variant: str = "reference", **cluster: Any) -> EksNetwork:
    changes = CHANGES[variant]
    plan = plan_with({**changes, "eks_cluster": {**changes["eks_cluster"], **cluster}})
    return EksNetwork(stack(plan), "network", plan=plan)


def template(variant: str = "reference", **cluster: Any) -> TemplateData:
    return template_of(Stack.of(network(variant, **cluster)))


def test_what_is_made_and_how_often() -> None:
    assert Counter(found["Type"] for found in template()["Resources"].values()) == {
        "AWS::EC2::VPC": 1,
        "AWS::EC2::InternetGateway": 1,
        "AWS::EC2::VPCGatewayAttachment": 1,
        "AWS::EC2::Subnet": 4,
        "AWS::EC2::RouteTable": 4,
        "AWS::EC2::SubnetRouteTableAssociation": 4,
        "AWS::EC2::Route": 4,
        "AWS::EC2::EIP": 1,
        "AWS::EC2::NatGateway": 1,
        "AWS::EC2::VPCEndpoint": 1,
    }


def test_every_zone_has_a_public_and_a_private_subnet() -> None:
    subnets = resources(template(), "AWS::EC2::Subnet")
    assert [(subnet["AvailabilityZone"], subnet["CidrBlock"]) for subnet in subnets] == [
        ("us-west-2a", "10.0.192.0/22"),
        ("us-west-2a", "10.0.0.0/18"),
        ("us-west-2b", "10.0.196.0/22"),
        ("us-west-2b", "10.0.64.0/18"),
    ]
    assert not any(subnet["MapPublicIpOnLaunch"] for subnet in subnets)


def test_balancers_find_their_subnets_by_tag() -> None:
    tags = [{tag["Key"] for tag in subnet["Tags"]} for subnet in resources(template(), "AWS::EC2::Subnet")]
    assert ["kubernetes.io/role/elb" in found for found in tags] == [True, False, True, False]
    assert ["kubernetes.io/role/internal-elb" in found for found in tags] == [False, True, False, True]


def test_zones_by_id_are_written_as_ids() -> None:
    subnets = resources(template("every-option"), "AWS::EC2::Subnet")
    assert [subnet["AvailabilityZoneId"] for subnet in subnets][::2] == ["usw2-az1", "usw2-az2", "usw2-az3"]
    assert not any("AvailabilityZone" in subnet for subnet in subnets)


def test_the_zone_of_the_gpu_nodes_has_the_one_nat_gateway() -> None:
    found = template()
    (gateway,) = resources(found, "AWS::EC2::NatGateway")
    public = found["Resources"][gateway["SubnetId"]["Ref"]]["Properties"]
    assert public["AvailabilityZone"] == "us-west-2a"
    routes = [route for route in resources(found, "AWS::EC2::Route") if "NatGatewayId" in route]
    assert len(routes) == 2
    assert len({route["NatGatewayId"]["Ref"] for route in routes}) == 1


def test_each_zone_can_have_a_nat_gateway_of_its_own() -> None:
    routes = resources(template("every-option"), "AWS::EC2::Route")
    assert len({route["NatGatewayId"]["Ref"] for route in routes if "NatGatewayId" in route}) == 3


def test_image_layers_come_from_s3_past_the_nat_gateway() -> None:
    found = template()
    endpoint = only(found, "AWS::EC2::VPCEndpoint")
    assert endpoint["VpcEndpointType"] == "Gateway"
    assert endpoint["ServiceName"]["Fn::Join"][1][-1] == ".s3"
    tables = [route["RouteTableId"] for route in resources(found, "AWS::EC2::Route") if "NatGatewayId" in route]
    assert endpoint["RouteTableIds"] == tables


def test_interface_endpoints_stand_in_the_zone_of_the_gpu_nodes_and_answer_the_network_only() -> None:
    found = template("every-option")
    interfaces = [
        endpoint for endpoint in resources(found, "AWS::EC2::VPCEndpoint") if endpoint["VpcEndpointType"] == "Interface"
    ]
    names = [endpoint["ServiceName"].rpartition("us-west-2.")[2] for endpoint in interfaces]
    assert names == ["ecr.api", "ecr.dkr", "eks-auth", "logs"]
    for endpoint in interfaces:
        (subnet,) = endpoint["SubnetIds"]
        assert found["Resources"][subnet["Ref"]]["Properties"]["AvailabilityZoneId"] == "usw2-az1"
        assert endpoint["PrivateDnsEnabled"] is True
    (rule,) = only(found, "AWS::EC2::SecurityGroup")["SecurityGroupIngress"]
    assert (rule["CidrIp"], rule["FromPort"], rule["ToPort"]) == ("172.20.0.0/18", 443, 443)


def test_everything_has_the_deployments_tags() -> None:
    tag = {"Key": "cost-center", "Value": "7"}
    untagged = {
        "AWS::EC2::VPCGatewayAttachment",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::Route",
    }
    for found in template("every-option")["Resources"].values():
        assert found["Type"] in untagged or tag in found["Properties"]["Tags"], found["Type"]


def test_nothing_is_looked_up_with_account_and_region() -> None:
    plan = plan_of("reference")
    app = App()
    EksNetwork(Stack(app, "s", env=Environment(account="123456789012", region=plan.region)), "network", plan=plan)
    assert lookups(app) == []


def test_a_plan_without_a_new_cluster_is_refused() -> None:
    plan = plan_with()
    with pytest.raises(PlanError, match=r"PD516 error qwen35-9b/network: the plan of qwen35-9b makes 0 clusters"):
        EksNetwork(stack(plan), "network", plan=plan)


def test_the_escape_hatch_leads_to_the_vpc() -> None:
    found = network()
    vpc = found.node.default_child
    assert isinstance(vpc, aws_ec2.CfnVPC)
    vpc.instance_tenancy = "dedicated"
    assert only(template_of(Stack.of(found)), "AWS::EC2::VPC")["InstanceTenancy"] == "dedicated"
