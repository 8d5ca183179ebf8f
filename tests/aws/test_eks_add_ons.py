"""The add-ons as the template has them."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest
from aws_cdk import Stack, aws_ec2, aws_eks_v2, aws_iam

from constructs_pd import EksAddOns, EksCluster, EksNetwork, ExistingCluster, PlanError
from support.new_cluster import plan_of, stacks_of
from support.specs import plan_with
from support.template import TemplateData, only, resources, stack, template_of

CHART = "Custom::AWSCDK-EKS-HelmChart"


@pytest.fixture(scope="module")
def reference() -> TemplateData:
    return stacks_of(plan_of("reference"))["add-ons"]


@pytest.fixture(scope="module")
def bare() -> TemplateData:
    return stacks_of(plan_of("bare"))["add-ons"]


def charts(found: TemplateData) -> dict[str, dict[str, Any]]:
    return {chart["Chart"]: chart for chart in resources(found, CHART)}


def imported(plan: Any, scope: Stack, **more: Any) -> aws_eks_v2.ICluster:
    vpc = aws_ec2.Vpc.from_vpc_attributes(
        scope, "Vpc", vpc_id="vpc-0123456789abcdef0", availability_zones=[plan.availability_zone]
    )
    return aws_eks_v2.Cluster.from_cluster_attributes(scope, "Cluster", cluster_name="platform", vpc=vpc, **more)


def provider(scope: Stack) -> aws_eks_v2.IKubectlProvider:
    return aws_eks_v2.KubectlProvider.from_kubectl_provider_attributes(
        scope,
        "Provider",
        service_token="arn:aws:lambda:us-west-2:123456789012:function:kubectl",
        role=aws_iam.Role.from_role_arn(scope, "Role", "arn:aws:iam::123456789012:role/kubectl"),
    )


def test_the_exporter_of_gpu_metrics_is_installed_where_it_is_asked_for(reference: TemplateData) -> None:
    found = charts(stacks_of(plan_of("reference", {"monitoring": {"dcgm_exporter": True}}))["add-ons"])
    assert found.keys() - charts(reference).keys() == {"dcgm-exporter"}
    exporter = found["dcgm-exporter"]
    assert (exporter["Version"], exporter["Namespace"]) == ("4.8.2", "dcgm-exporter")
    assert json.loads(exporter["Values"])["serviceMonitor"] == {"enabled": False}


def test_what_is_made_and_how_often(reference: TemplateData) -> None:
    kinds = Counter(found["Type"] for found in reference["Resources"].values())
    kinds.pop("AWS::CDK::Metadata", None)
    assert kinds == {
        CHART: 4,
        "Custom::AWSCDK-EKS-KubernetesResource": 1,
        "AWS::EKS::PodIdentityAssociation": 1,
        "AWS::EKS::Addon": 1,
        "AWS::IAM::Role": 2,
        "AWS::IAM::ManagedPolicy": 1,
        "AWS::EFS::FileSystem": 1,
        "AWS::EFS::MountTarget": 2,
        "AWS::EC2::SecurityGroup": 1,
        "AWS::EC2::SecurityGroupIngress": 1,
    }


def test_only_what_the_plan_needs_is_there(bare: TemplateData) -> None:
    kinds = Counter(found["Type"] for found in bare["Resources"].values())
    kinds.pop("AWS::CDK::Metadata", None)
    assert kinds == {CHART: 3}
    assert sorted(charts(bare)) == ["aws-efa-k8s-device-plugin", "kuberay-operator", "nvidia-device-plugin"]


def test_charts_are_pinned_waited_for_and_named_by_themselves(reference: TemplateData) -> None:
    pinned = {name: (chart["Version"], chart["Namespace"]) for name, chart in charts(reference).items()}
    assert pinned == {
        "aws-efa-k8s-device-plugin": ("v0.5.30", "kube-system"),
        "aws-load-balancer-controller": ("3.5.0", "kube-system"),
        "kuberay-operator": ("1.7.0", "kuberay-system"),
        "nvidia-device-plugin": ("0.20.0", "nvidia-device-plugin"),
    }
    for name, chart in charts(reference).items():
        assert (chart["Release"], chart["Wait"], chart["Timeout"]) == (name, True, "600s")
        assert chart["Repository"].startswith("https://")


def test_the_values_are_the_plans(reference: TemplateData) -> None:
    plan = plan_of("reference")
    for chart in plan.charts:
        written = charts(reference)[chart.name]["Values"]
        if isinstance(written, str):
            assert json.loads(written) == chart.values
        else:
            parts = [part if isinstance(part, str) else "KNOWN-LATER" for part in written["Fn::Join"][1]]
            later = dict.fromkeys(chart.cluster_values, "KNOWN-LATER")
            assert json.loads("".join(parts)) == {**chart.values, **later}


def test_the_balancers_controller_may_do_what_its_release_publishes(reference: TemplateData) -> None:
    association = only(reference, "AWS::EKS::PodIdentityAssociation")
    assert (association["Namespace"], association["ServiceAccount"]) == ("kube-system", "aws-load-balancer-controller")
    policy = only(reference, "AWS::IAM::ManagedPolicy")
    assert policy["Roles"] == [{"Ref": association["RoleArn"]["Fn::GetAtt"][0]}]
    text = json.dumps(policy["PolicyDocument"])
    assert "elasticloadbalancing:CreateLoadBalancer" in text
    assert "arn:aws:" not in text
    assert {"Ref": "AWS::Partition"} in json.loads(text)["Statement"][5]["Resource"]["Fn::Join"][1]


def test_the_model_cache_is_encrypted_elastic_and_goes_with_the_stack(reference: TemplateData) -> None:
    (found,) = [each for each in reference["Resources"].values() if each["Type"] == "AWS::EFS::FileSystem"]
    assert found["DeletionPolicy"] == "Delete"
    assert (found["Properties"]["Encrypted"], found["Properties"]["ThroughputMode"]) == (True, "elastic")
    assert "BackupPolicy" not in found["Properties"]
    assert {"Key": "constructs-pd/deployment", "Value": "qwen35-9b"} in found["Properties"]["FileSystemTags"]


def test_every_zone_mounts_it_and_only_the_clusters_nodes_do(reference: TemplateData) -> None:
    subnets = [json.dumps(target["SubnetId"]) for target in resources(reference, "AWS::EFS::MountTarget")]
    assert len(set(subnets)) == 2
    rule = only(reference, "AWS::EC2::SecurityGroupIngress")
    assert (rule["FromPort"], rule["ToPort"], rule["IpProtocol"]) == (2049, 2049, "tcp")
    assert "ClusterSecurityGroupId" in rule["SourceSecurityGroupId"]["Fn::ImportValue"]


def test_the_storage_class_names_the_file_system(reference: TemplateData) -> None:
    manifest = only(reference, "Custom::AWSCDK-EKS-KubernetesResource")["Manifest"]["Fn::Join"][1]
    (file_system,) = [part for part in manifest if not isinstance(part, str)]
    assert reference["Resources"][file_system["Ref"]]["Type"] == "AWS::EFS::FileSystem"
    (made,) = json.loads("".join(part if isinstance(part, str) else "fs-1" for part in manifest))
    storage = plan_of("reference").model_cache_storage
    assert storage is not None
    assert made["metadata"]["name"] == storage.storage_class
    assert made["provisioner"] == "efs.csi.aws.com"
    assert made["parameters"]["fileSystemId"] == "fs-1"
    assert made["parameters"]["provisioningMode"] == "efs-ap"


def test_the_driver_has_a_role_of_its_own(reference: TemplateData) -> None:
    driver = only(reference, "AWS::EKS::Addon")
    assert driver["AddonName"] == "aws-efs-csi-driver"
    (association,) = driver["PodIdentityAssociations"]
    role = reference["Resources"][association["RoleArn"]["Fn::GetAtt"][0]]["Properties"]
    (policy,) = role["ManagedPolicyArns"]
    assert policy["Fn::Join"][1][-1].endswith("service-role/AmazonEFSCSIDriverPolicy")


def test_a_cluster_of_ones_own_gets_the_charts() -> None:
    plan = plan_with()
    scope = stack(plan)
    EksAddOns(scope, "add-ons", plan=plan, cluster=imported(plan, scope, kubectl_provider=provider(scope)))
    found = template_of(scope)
    assert len(charts(found)) == 4
    values = json.loads(charts(found)["aws-load-balancer-controller"]["Values"])
    assert (values["clusterName"], values["vpcId"]) == ("platform", "vpc-0123456789abcdef0")
    assert resources(found, "AWS::EKS::Addon") == []
    assert resources(found, "AWS::EFS::FileSystem") == []


def test_a_cluster_that_nothing_can_be_applied_to_is_refused() -> None:
    plan = plan_with()
    scope = stack(plan)
    with pytest.raises(PlanError, match="PD518 error qwen35-9b/add-ons: qwen35-9b/Cluster has no kubectl provider"):
        EksAddOns(scope, "add-ons", plan=plan, cluster=imported(plan, scope))


@pytest.mark.parametrize("given", [None, "platform", ExistingCluster("platform", "sg-0123456789abcdef0", "vpc-1")])
def test_what_nothing_can_be_applied_to_is_refused(given: Any) -> None:
    plan = plan_with()
    with pytest.raises(PlanError, match="PD520 error qwen35-9b/add-ons: cluster is a"):
        EksAddOns(stack(plan), "add-ons", plan=plan, cluster=given)


@pytest.mark.parametrize(
    ("variant", "vpc", "missing"), [(None, False, "VPC"), ("reference", False, "VPC"), ("reference", True, "group")]
)
def test_what_is_needed_of_an_imported_cluster_is_asked_for(variant: str | None, vpc: bool, missing: str) -> None:
    plan = plan_of(variant) if variant else plan_with()
    scope = stack(plan)
    cluster = aws_eks_v2.Cluster.from_cluster_attributes(
        scope,
        "Imported",
        cluster_name="platform",
        kubectl_provider=provider(scope),
        vpc=imported(plan, scope).vpc if vpc else None,
    )
    with pytest.raises(PlanError, match=f"PD506 error .* was imported without its (security )?{missing}"):
        EksAddOns(scope, "add-ons", plan=plan, cluster=cluster)


def with_subnets(scope: Stack, zones: list[str]) -> aws_eks_v2.ICluster:
    subnets = [f"subnet-0123456789abcdef{number}" for number in range(len(zones))]
    # The CDK wants whole groups of subnets: the names of the zones once, the subnets group by group.
    vpc = aws_ec2.Vpc.from_vpc_attributes(
        scope,
        "OwnVpc",
        vpc_id="vpc-0123456789abcdef0",
        availability_zones=list(dict.fromkeys(zones)) or ["us-west-2a"],
        private_subnet_ids=subnets or None,
    )
    return aws_eks_v2.Cluster.from_cluster_attributes(
        scope,
        "OwnCluster",
        cluster_name="platform",
        cluster_security_group_id="sg-0123456789abcdef0",
        kubectl_provider=provider(scope),
        vpc=vpc,
    )


def test_a_zone_of_two_private_subnets_has_one_mount_target() -> None:
    plan = plan_of("reference")
    scope = stack(plan)
    cluster = with_subnets(scope, ["us-west-2a", "us-west-2b", "us-west-2a", "us-west-2b"])
    EksAddOns(scope, "add-ons", plan=plan, cluster=cluster)
    targets = resources(template_of(scope), "AWS::EFS::MountTarget")
    assert [target["SubnetId"] for target in targets] == ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]


def test_a_network_without_private_subnets_is_refused_where_a_file_system_is_made() -> None:
    plan = plan_of("reference")
    scope = stack(plan)
    with pytest.raises(PlanError, match=r"PD506 error qwen35-9b/add-ons: the VPC qwen35-9b/OwnVpc has 0 private"):
        EksAddOns(scope, "add-ons", plan=plan, cluster=with_subnets(scope, []))


def test_a_second_time_on_one_cluster_is_refused() -> None:
    plan, other = plan_with(), plan_with({"name": "other"})
    scope = stack(plan)
    cluster = imported(plan, scope, kubectl_provider=provider(scope))
    EksAddOns(scope, "add-ons", plan=plan, cluster=cluster)
    with pytest.raises(PlanError, match="PD504 error qwen35-9b/second"):
        EksAddOns(scope, "second", plan=other, cluster=cluster)


def test_a_cluster_of_another_plan_is_refused() -> None:
    plan, other = plan_of("reference"), plan_of("bare")
    scope = stack(other)
    cluster = EksCluster(scope, "cluster", plan=other, network=EksNetwork(scope, "network", plan=other))
    with pytest.raises(PlanError, match="PD501"):
        EksAddOns(scope, "add-ons", plan=plan, cluster=cluster)
