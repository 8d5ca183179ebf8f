"""Clusters of every kind: new and imported, of both modules, and by names and ids."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from aws_cdk import (
    App,
    CfnParameter,
    Environment,
    Stack,
    aws_ec2,
    aws_eks,
    aws_eks_v2,
    aws_lambda,
)

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, ExistingCluster, PlanError
from constructs_pd.aws.cluster import AnyCluster
from support.specs import AMI_ID, plan_with
from support.template import CLUSTER, launch_template, node_group, only, resources, stack, subnet_of, template_of

MODULES = pytest.mark.parametrize("module", [aws_eks, aws_eks_v2], ids=["eks", "eks_v2"])


class PlainStack(Stack):
    """Somebody's stack with a VPC of its own."""

    def __init__(self, plan: DeploymentPlan) -> None:
        super().__init__(App(), "own", env=Environment(account="123456789012", region=plan.region))
        self.vpc = aws_ec2.Vpc(self, "vpc", availability_zones=["us-west-2a", "us-west-2b"])


class OwnStack(PlainStack):
    """The same with its zones stated, so that nothing is looked up in AWS."""

    @property
    def availability_zones(self) -> list[str]:
        return ["us-west-2a", "us-west-2b"]


def new_cluster(module: Any, scope: PlainStack, **more: Any) -> AnyCluster:
    layer = aws_lambda.LayerVersion.from_layer_version_arn(
        scope, "kubectl", "arn:aws:lambda:us-west-2:123456789012:layer:kubectl:1"
    )
    own = {"kubectl_layer": layer, "default_capacity": 0} if module is aws_eks else {}
    given = {"version": module.KubernetesVersion.V1_35, "vpc": scope.vpc, **own, **more}
    cluster: AnyCluster = module.Cluster(scope, "cluster", **given)
    return cluster


@MODULES
def test_a_new_cluster_gives_its_name_its_security_group_and_its_vpc(module: Any) -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(module, scope)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])
    template = template_of(scope)
    (cluster_id,) = [
        name for name, found in template["Resources"].items() if found["Type"].endswith(("EKS::Cluster", "EKS-Cluster"))
    ]
    for phase in ("prefill", "decode"):
        group = node_group(template, phase)
        assert group["ClusterName"] == {"Ref": cluster_id}
        assert group["Subnets"] == [{"Ref": "vpcPrivateSubnet1Subnet934893E8"}]
        first = launch_template(template, phase)["NetworkInterfaces"][0]["Groups"][0]
        assert first == {"Fn::GetAtt": [cluster_id, "ClusterSecurityGroupId"]}
    own = [group for group in resources(template, "AWS::EC2::SecurityGroup") if "EFA" in group["GroupDescription"]]
    assert [group["VpcId"] for group in own] == [{"Ref": "vpcA2121C38"}]


@MODULES
def test_a_new_cluster_in_another_stack_is_referred_to(module: Any) -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    api = {"authentication_mode": aws_eks.AuthenticationMode.API} if module is aws_eks else {}
    cluster = new_cluster(module, scope, **api)
    nodes = Stack(scope.node.root, "nodes", env=Environment(account="123456789012", region=plan.region))  # type: ignore[arg-type]
    EksGpuNodeGroups(nodes, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])
    template = template_of(nodes)
    assert "Fn::ImportValue" in node_group(template, "decode")["ClusterName"]
    assert "Fn::ImportValue" in only(template, "AWS::EC2::SecurityGroup")["VpcId"]


@MODULES
def test_a_new_cluster_tells_nodes_with_an_image_of_ones_own_how_to_join(module: Any) -> None:
    plan = plan_with({"decode.ami_id": AMI_ID})
    scope = OwnStack(plan)
    cluster = new_cluster(module, scope)
    EksGpuNodeGroups(
        scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0], service_cidr="10.100.0.0/16"
    )
    data = str(launch_template(template_of(scope), "decode")["UserData"])
    assert "'Endpoint']" in data
    assert "'CertificateAuthorityData']" in data


@MODULES
@pytest.mark.parametrize("stated", [True, False])
def test_nothing_is_looked_up_in_aws_where_the_stack_states_its_zones(module: Any, stated: bool) -> None:
    """The other way round the CDK asks AWS for the zones of the account, whatever the VPC was told."""
    plan = plan_with()
    scope = OwnStack(plan) if stated else PlainStack(plan)
    cluster = new_cluster(module, scope)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])
    app = scope.node.root
    assert isinstance(app, App)
    manifest = json.loads((Path(app.synth().directory) / "manifest.json").read_text(encoding="utf-8"))
    lookups = [lookup["provider"] for lookup in manifest.get("missing", [])]
    assert lookups == ([] if stated else ["availability-zones"])


def who_may_join(template: dict[str, Any]) -> str:
    """Return what the ConfigMap aws-auth says of roles, as far as the CDK writes it."""
    manifests = resources(template, "Custom::AWSCDK-EKS-KubernetesResource")
    return str([found["Manifest"] for found in manifests if "mapRoles" in str(found["Manifest"])])


def test_nodes_may_join_a_cluster_that_writes_down_who_may() -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(aws_eks, scope, default_capacity=1)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])
    template = template_of(scope)
    (role,) = [name for name in template["Resources"] if name.startswith("gpuRole")]
    joined = who_may_join(template)
    assert joined.count("system:bootstrappers") == 2
    assert role in joined


@pytest.mark.parametrize("mode", ["API", "API_AND_CONFIG_MAP"])
def test_eks_itself_enters_nodes_where_it_keeps_access_entries(mode: str) -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(aws_eks, scope, authentication_mode=aws_eks.AuthenticationMode[mode])
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])
    assert who_may_join(template_of(scope)) == "[]"


def test_a_config_map_of_another_stack_cannot_name_the_nodes_role() -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(aws_eks, scope)
    nodes = Stack(scope, "nodes", env=Environment(account="123456789012", region=plan.region))
    with pytest.raises(
        PlanError, match="PD513 error own/nodes/gpu: own/cluster names those who may join in a ConfigMap"
    ):
        EksGpuNodeGroups(nodes, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])


@pytest.mark.parametrize(
    ("cluster_version", "nodes_version", "refused"),
    [
        ("1.35", "1.35", False),
        ("1.36", "1.35", False),
        ("1.36", "1.33", False),
        ("1.36", "1.32", True),
        ("1.34", "1.35", True),
    ],
)
def test_nodes_are_not_newer_than_a_new_cluster_nor_much_older(
    cluster_version: str, nodes_version: str, refused: bool
) -> None:
    plan = plan_with({"kubernetes_version": nodes_version})
    scope = OwnStack(plan)
    cluster = new_cluster(aws_eks_v2, scope, version=aws_eks_v2.KubernetesVersion.of(cluster_version))

    def make() -> None:
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])

    if not refused:
        make()
        return
    expected = f"PD513 .*: own/cluster is of version {cluster_version}, its nodes would be of {nodes_version}"
    with pytest.raises(PlanError, match=expected):
        make()


def test_a_subnet_of_another_vpc_of_the_same_app_is_refused() -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(aws_eks_v2, scope)
    other = aws_ec2.Vpc(scope, "other", availability_zones=["us-west-2a"])
    with pytest.raises(PlanError, match="PD515 error own/gpu: the subnet is of the VPC own/other"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=other.private_subnets[0])


@MODULES
def test_a_cluster_with_ipv6_addresses_is_refused(module: Any) -> None:
    plan = plan_with()
    scope = OwnStack(plan)
    cluster = new_cluster(module, scope, ip_family=module.IpFamily.IP_V6)
    with pytest.raises(PlanError, match="PD513 error own/gpu: the pods of own/cluster have IPv6 addresses"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=scope.vpc.private_subnets[0])


@pytest.mark.parametrize("wrong", [None, "platform", 7])
def test_what_is_no_cluster_is_refused(wrong: Any) -> None:
    plan = plan_with()
    with pytest.raises(PlanError, match=f"PD506 error qwen35-9b/gpu: {type(wrong).__name__} is no cluster"):
        EksGpuNodeGroups(stack(plan), "gpu", plan=plan, cluster=wrong, subnet=subnet_of(plan))


def test_an_l1_cluster_is_refused() -> None:
    plan = plan_with()
    scope = stack(plan)
    own: Any = aws_eks.CfnCluster(
        scope,
        "own",
        role_arn="arn:aws:iam::123456789012:role/cluster",
        resources_vpc_config=aws_eks.CfnCluster.ResourcesVpcConfigProperty(subnet_ids=[]),
    )
    with pytest.raises(PlanError, match="PD506 error qwen35-9b/gpu: CfnCluster is no cluster"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=own, subnet=subnet_of(plan))


def imported(module: Any, scope: Stack, **attributes: Any) -> AnyCluster:
    cluster: AnyCluster = module.Cluster.from_cluster_attributes(scope, "cluster", cluster_name="theirs", **attributes)
    return cluster


def their_vpc(scope: Stack) -> aws_ec2.IVpc:
    zones = ["us-west-2a"]
    return aws_ec2.Vpc.from_vpc_attributes(scope, "vpc", vpc_id="vpc-0123456789abcdef9", availability_zones=zones)


@MODULES
def test_an_imported_cluster_with_its_security_group_and_vpc(module: Any) -> None:
    plan = plan_with()
    scope = stack(plan)
    cluster = imported(module, scope, vpc=their_vpc(scope), cluster_security_group_id="sg-0123456789abcdef9")
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=subnet_of(plan))
    template = template_of(scope)
    assert node_group(template, "decode")["ClusterName"] == "theirs"
    assert launch_template(template, "decode")["NetworkInterfaces"][0]["Groups"][0] == "sg-0123456789abcdef9"
    assert only(template, "AWS::EC2::SecurityGroup")["VpcId"] == "vpc-0123456789abcdef9"


@MODULES
@pytest.mark.parametrize(
    ("attributes", "missing", "argument"),
    [
        (lambda scope: {"vpc": their_vpc(scope)}, "security group", "cluster_security_group_id"),
        (lambda _: {"cluster_security_group_id": "sg-0123456789abcdef9"}, "VPC", "vpc"),
    ],
)
def test_what_an_imported_cluster_does_not_say_is_asked_for(
    module: Any, attributes: Callable[[Stack], dict[str, Any]], missing: str, argument: str
) -> None:
    plan = plan_with()
    scope = stack(plan)
    cluster = imported(module, scope, **attributes(scope))
    with pytest.raises(PlanError) as caught:
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=cluster, subnet=subnet_of(plan))
    (finding,) = caught.value.findings
    assert (finding.code, finding.subject) == ("PD506", "qwen35-9b/gpu")
    assert finding.message == f"the cluster qwen35-9b/cluster was imported without its {missing}"
    assert finding.remedy.startswith(f"pass {argument} to from_cluster_attributes")


def test_names_and_ids_may_be_known_at_deploy_time_only() -> None:
    plan = plan_with()
    scope = stack(plan)
    name = CfnParameter(scope, "Name").value_as_string
    EksGpuNodeGroups(
        scope,
        "gpu",
        plan=plan,
        cluster=ExistingCluster(name=name, security_group_id=name, vpc_id=name),
        subnet=subnet_of(plan),
    )
    template = template_of(scope)
    assert node_group(template, "decode")["ClusterName"] == {"Ref": "Name"}
    assert only(template, "AWS::EC2::SecurityGroup")["VpcId"] == {"Ref": "Name"}


@pytest.mark.parametrize(
    ("field", "value", "what"),
    [
        ("name", "", "an EKS cluster's name"),
        ("name", "-leading", "an EKS cluster's name"),
        ("name", "n" * 101, "an EKS cluster's name"),
        ("security_group_id", "sg-123", "a security group id"),
        ("security_group_id", "default", "a security group id"),
        ("vpc_id", "subnet-0123456789abcdef0", "a VPC id"),
        ("vpc_id", None, "a VPC id"),
    ],
)
def test_a_name_or_an_id_that_cannot_be_one_is_refused(field: str, value: str, what: str) -> None:
    plan = plan_with()
    ids = {"name": CLUSTER.name, "security_group_id": CLUSTER.security_group_id, "vpc_id": CLUSTER.vpc_id}
    with pytest.raises(PlanError) as caught:
        EksGpuNodeGroups(
            stack(plan), "gpu", plan=plan, cluster=ExistingCluster(**{**ids, field: value}), subnet=subnet_of(plan)
        )
    (finding,) = caught.value.findings
    assert (finding.code, finding.message) == ("PD507", f"{value!r} is not {what}")
