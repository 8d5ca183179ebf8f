"""The rules of the security group, on the template: the CDK's own class drops one of them in silence."""

from __future__ import annotations

from typing import Any

import pytest
from aws_cdk import App, Stack, aws_ec2
from aws_cdk.assertions import Template

from support.specs import plan_with
from support.template import CLUSTER, only, synthesized


@pytest.fixture(scope="module")
def template() -> dict[str, Any]:
    return synthesized(plan_with())


@pytest.fixture(scope="module")
def group_id(template: dict[str, Any]) -> dict[str, Any]:
    (name,) = [name for name, found in template["Resources"].items() if found["Type"] == "AWS::EC2::SecurityGroup"]
    return {"Fn::GetAtt": [name, "GroupId"]}


def test_all_traffic_comes_from_the_group_itself(template: dict[str, Any], group_id: dict[str, Any]) -> None:
    rule = only(template, "AWS::EC2::SecurityGroupIngress")
    assert (rule["GroupId"], rule["SourceSecurityGroupId"], rule["IpProtocol"]) == (group_id, group_id, "-1")
    assert not {"CidrIp", "FromPort", "ToPort"} & rule.keys()


def test_all_traffic_goes_to_the_group_itself(template: dict[str, Any], group_id: dict[str, Any]) -> None:
    rule = only(template, "AWS::EC2::SecurityGroupEgress")
    assert (rule["GroupId"], rule["DestinationSecurityGroupId"], rule["IpProtocol"]) == (group_id, group_id, "-1")
    assert not {"CidrIp", "FromPort", "ToPort"} & rule.keys()


def test_ip_goes_everywhere_and_comes_from_nowhere_else(template: dict[str, Any]) -> None:
    group = only(template, "AWS::EC2::SecurityGroup")
    assert group["SecurityGroupEgress"] == [
        {"IpProtocol": "-1", "CidrIp": "0.0.0.0/0", "Description": "IP to everywhere"}
    ]
    assert "SecurityGroupIngress" not in group
    assert group["VpcId"] == CLUSTER.vpc_id


def test_the_cdks_own_class_would_drop_the_rule_to_itself() -> None:
    """The reason for the L1 resources; when this fails, the L2 class can be used (aws/aws-cdk#38558)."""
    scope = Stack(App(), "s")
    vpc = aws_ec2.Vpc.from_vpc_attributes(scope, "v", vpc_id=CLUSTER.vpc_id, availability_zones=["us-west-2a"])
    group = aws_ec2.SecurityGroup(scope, "g", vpc=vpc, allow_all_outbound=True)
    group.add_egress_rule(group, aws_ec2.Port.all_traffic())
    Template.from_stack(scope).resource_count_is("AWS::EC2::SecurityGroupEgress", 0)
