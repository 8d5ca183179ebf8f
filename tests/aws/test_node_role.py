"""The nodes' role: what a node needs, and no more."""

from __future__ import annotations

from typing import Any

import pytest

from support.specs import plan_with
from support.template import node_group, only, synthesized

NEEDED = ["AmazonEKSWorkerNodePolicy", "AmazonEC2ContainerRegistryPullOnly"]


def policies(template: dict[str, Any]) -> list[str]:
    joined = [arn["Fn::Join"][1] for arn in only(template, "AWS::IAM::Role")["ManagedPolicyArns"]]
    return [parts[-1].removeprefix(":iam::aws:policy/") for parts in joined]


@pytest.mark.parametrize(("role", "more"), [("node", ["AmazonEKS_CNI_Policy"]), ("own", [])])
def test_the_vpc_cni_has_the_nodes_permissions_only_where_it_has_no_role_of_its_own(role: str, more: list[str]) -> None:
    template = synthesized(plan_with({"nodes.vpc_cni_role": role}))
    assert policies(template) == [*NEEDED, *more]
    assert "Policies" not in only(template, "AWS::IAM::Role")


def test_only_ec2_assumes_it_and_both_groups_have_it() -> None:
    template = synthesized(plan_with())
    role = only(template, "AWS::IAM::Role")
    (statement,) = role["AssumeRolePolicyDocument"]["Statement"]
    assert (statement["Action"], statement["Principal"]) == ("sts:AssumeRole", {"Service": "ec2.amazonaws.com"})
    roles = [node_group(template, phase)["NodeRole"]["Fn::GetAtt"] for phase in ("prefill", "decode")]
    assert roles[0] == roles[1]
    assert roles[0][1] == "Arn"
    assert template["Resources"][roles[0][0]]["Type"] == "AWS::IAM::Role"
