"""User data of nodes with an image of the user's own, read as cloud-init and nodeadm read it."""

from __future__ import annotations

import json
from email import message_from_string
from typing import Any

import pytest

from constructs_pd import EksGpuNodeGroups, ExistingCluster, PlanError
from support.specs import AMI_ID, plan_with
from support.template import CLUSTER, launch_template, stack, subnet_of, synthesized

OWN = {"decode.ami_id": AMI_ID}


def node_config() -> dict[str, Any]:
    text = launch_template(synthesized(plan_with(OWN)), "decode")["UserData"]["Fn::Base64"]
    message = message_from_string(text)
    assert message.get_content_type() == "multipart/mixed"
    _, part = message.walk()
    assert part.get_content_type() == "application/node.eks.aws"
    config: dict[str, Any] = json.loads(str(part.get_payload()))
    return config


def test_it_says_how_to_join_the_cluster() -> None:
    config = node_config()
    assert (config["apiVersion"], config["kind"]) == ("node.eks.aws/v1alpha1", "NodeConfig")
    assert config["spec"]["cluster"] == {
        "name": CLUSTER.name,
        "apiServerEndpoint": CLUSTER.endpoint,
        "certificateAuthority": CLUSTER.certificate_authority_data,
        "cidr": "10.100.0.0/16",
    }


def test_labels_and_taints_are_there_before_the_node_joins() -> None:
    assert node_config()["spec"]["kubelet"]["flags"] == [
        "--node-labels=constructs-pd/deployment=qwen35-9b,constructs-pd/role=decode,nvidia.com/gpu.present=true",
        "--register-with-taints=nvidia.com/gpu=true:NoSchedule",
    ]


def test_eks_own_image_gets_none() -> None:
    assert "UserData" not in launch_template(synthesized(plan_with(OWN)), "prefill")


@pytest.mark.parametrize(
    ("cluster", "cidr", "unknown"),
    [
        (CLUSTER, None, "1 unknown: cidr"),
        (
            ExistingCluster(CLUSTER.name, CLUSTER.security_group_id, CLUSTER.vpc_id),
            "10.100.0.0/16",
            "2 unknown: apiServerEndpoint, certificateAuthority",
        ),
    ],
)
def test_what_is_unknown_of_the_cluster_is_asked_for(cluster: ExistingCluster, cidr: str | None, unknown: str) -> None:
    plan = plan_with(OWN)
    with pytest.raises(PlanError, match=f"PD512 error .*: {AMI_ID} joins the cluster with 4 facts, {unknown}"):
        EksGpuNodeGroups(stack(plan), "gpu", plan=plan, cluster=cluster, subnet=subnet_of(plan), service_cidr=cidr)


@pytest.mark.parametrize(
    "cidr", ["banana", "10.100.0.0", "10.100.0.1/16", "10.100.0.1/32", "fd00::/108", "8.8.8.8/31", "10.0.0.0/11"]
)
def test_a_service_cidr_is_a_range_of_addresses(cidr: str) -> None:
    plan = plan_with(OWN)
    with pytest.raises(
        PlanError, match=f"PD512 error .*: service_cidr is '{cidr}', no range of IPv4 addresses from /12 to /24"
    ):
        EksGpuNodeGroups(stack(plan), "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), service_cidr=cidr)
