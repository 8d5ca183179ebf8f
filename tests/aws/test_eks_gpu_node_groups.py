"""The node groups as the template has them, not as they were called."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from aws_cdk import App, CfnElement, Environment, Stack, Stage, Tags, aws_ec2, aws_eks

from constructs_pd import DeploymentPlan, EksGpuNodeGroups, ExistingCluster, PlanError
from support.specs import AMI_ID, VARIANTS, plan_with, reserved
from support.template import (
    CLUSTER,
    REFERENCE_KINDS,
    SUBNET_ID,
    launch_template,
    node_group,
    node_groups,
    only,
    resources,
    stack,
    subnet_of,
    synthesized,
    template_of,
)

PHASES = ("prefill", "decode")


@pytest.fixture(scope="module")
def reference() -> dict[str, Any]:
    return synthesized(plan_with())


def test_what_is_made_and_how_often(reference: dict[str, Any]) -> None:
    assert Counter(found["Type"] for found in reference["Resources"].values()) == REFERENCE_KINDS


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_every_group_stands_in_one_and_the_same_subnet(changes: dict[str, Any]) -> None:
    subnets = [group["Subnets"] for group in resources(synthesized(plan_with(changes)), "AWS::EKS::Nodegroup")]
    assert subnets == [[SUBNET_ID], [SUBNET_ID]]


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("phase", PHASES)
def test_the_instance_type_stands_in_one_place_and_the_disk_in_the_template(
    changes: dict[str, Any], phase: str
) -> None:
    planned = plan_with(changes)
    template = synthesized(planned)
    group, launch = node_group(template, phase), launch_template(template, phase)
    stated = [*group.get("InstanceTypes", []), *([launch["InstanceType"]] if "InstanceType" in launch else [])]
    assert stated == [getattr(planned, phase).nodes.instance_type]
    assert "DiskSize" not in group
    assert "RemoteAccess" not in group
    (device,) = launch["BlockDeviceMappings"]
    assert device["Ebs"]["VolumeSize"] >= 200
    assert device["Ebs"]["Encrypted"] is True


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
@pytest.mark.parametrize("phase", PHASES)
def test_the_launch_template_says_nothing_that_eks_refuses(changes: dict[str, Any], phase: str) -> None:
    launch = launch_template(synthesized(plan_with(changes)), phase)
    refused = {"SecurityGroupIds", "SecurityGroups", "IamInstanceProfile", "InstanceInitiatedShutdownBehavior"}
    assert not refused & launch.keys()
    assert not any("SubnetId" in interface for interface in launch["NetworkInterfaces"])


def test_the_ami_is_eks_own_with_nvidia_drivers_at_the_plans_version(reference: dict[str, Any]) -> None:
    for phase in PHASES:
        group = node_group(reference, phase)
        assert (group["AmiType"], group["Version"]) == ("AL2023_x86_64_NVIDIA", "1.35")
        assert "ReleaseVersion" not in group
        assert "ImageId" not in launch_template(reference, phase)
        assert "UserData" not in launch_template(reference, phase)


def test_a_release_can_be_pinned() -> None:
    template = synthesized(plan_with({"nodes.ami_release_version": "1.35.2-20261101"}))
    assert {node_group(template, phase)["ReleaseVersion"] for phase in PHASES} == {"1.35.2-20261101"}


def test_beside_an_image_of_ones_own_eks_is_told_neither_type_nor_version() -> None:
    changes = {"prefill.ami_id": AMI_ID, "nodes.ami_release_version": "1.35.2-20261101"}
    template = synthesized(plan_with(changes))
    own, stock = node_group(template, "prefill"), node_group(template, "decode")
    assert not {"AmiType", "Version", "ReleaseVersion"} & own.keys()
    assert {"AmiType", "Version", "ReleaseVersion"} <= stock.keys()
    assert launch_template(template, "prefill")["ImageId"] == AMI_ID


def test_sizes_are_the_replicas_and_their_bounds() -> None:
    changes = {"decode.replicas": 3, "decode.min_nodes": 0, "decode.max_nodes": 5}
    template = synthesized(plan_with(changes))
    block = node_group(synthesized(plan_with(VARIANTS["capacity-block"])), "decode")
    assert block["ScalingConfig"] == {"MinSize": 0, "DesiredSize": 2, "MaxSize": 2}
    assert node_group(template, "prefill")["ScalingConfig"] == {"MinSize": 1, "DesiredSize": 1, "MaxSize": 1}
    assert node_group(template, "decode")["ScalingConfig"] == {"MinSize": 0, "DesiredSize": 3, "MaxSize": 5}


def test_labels_taints_and_tags(reference: dict[str, Any]) -> None:
    for phase in PHASES:
        group = node_group(reference, phase)
        assert group["Labels"] == {
            "constructs-pd/deployment": "qwen35-9b",
            "constructs-pd/role": phase,
            "nvidia.com/gpu.present": "true",
        }
        assert group["Taints"] == [{"Key": "nvidia.com/gpu", "Value": "true", "Effect": "NO_SCHEDULE"}]
        assert group["Tags"] == {"constructs-pd/deployment": "qwen35-9b", "Name": f"qwen35-9b-{phase}"}


def test_the_users_tags_reach_everything_that_costs_money() -> None:
    template = synthesized(plan_with({"nodes.tags": {"cost-center": "7"}}))
    tag = {"Key": "cost-center", "Value": "7"}
    for kind in ("AWS::EC2::SecurityGroup", "AWS::IAM::Role"):
        assert tag in only(template, kind)["Tags"]
    for phase in PHASES:
        assert node_group(template, phase)["Tags"]["cost-center"] == "7"
        tagged = {spec["ResourceType"]: spec["Tags"] for spec in launch_template(template, phase)["TagSpecifications"]}
        assert sorted(tagged) == ["instance", "network-interface", "volume"]
        assert all(tag in tags for tags in tagged.values())
    for launch in resources(template, "AWS::EC2::LaunchTemplate"):
        assert tag in launch["TagSpecifications"][0]["Tags"]


def test_a_tag_that_changes_with_every_deployment_does_not_replace_the_nodes() -> None:
    def tagged(commit: str) -> dict[str, Any]:
        plan = plan_with()
        scope = stack(plan)
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
        Tags.of(scope).add("commit", commit)
        return dict(template_of(scope)["Resources"])

    before, after = tagged("first"), tagged("second")
    changed = {before[name]["Type"] for name in before if before[name] != after[name]}
    assert changed == {"AWS::EC2::SecurityGroup", "AWS::IAM::Role", "AWS::EKS::Nodegroup"}
    groups = [name for name in before if before[name]["Type"] == "AWS::EKS::Nodegroup"]
    for name in groups:
        old, new = before[name]["Properties"], after[name]["Properties"]
        assert {key for key in old if old[key] != new[key]} == {"Tags"}


def test_on_demand_nodes_of_both_phases_join_one_new_placement_group(reference: dict[str, Any]) -> None:
    assert only(reference, "AWS::EC2::PlacementGroup")["Strategy"] == "cluster"
    (name,) = [key for key, found in reference["Resources"].items() if found["Type"] == "AWS::EC2::PlacementGroup"]
    for phase in PHASES:
        assert launch_template(reference, phase)["Placement"] == {"GroupName": {"Fn::GetAtt": [name, "GroupName"]}}


def test_a_placement_group_can_be_done_without() -> None:
    template = synthesized(plan_with({"nodes.placement_group": "none"}))
    assert resources(template, "AWS::EC2::PlacementGroup") == []
    assert not any("Placement" in launch_template(template, phase) for phase in PHASES)


@pytest.mark.parametrize(("name", "placement"), [(None, None), ("training", {"GroupName": "training"})])
def test_reserved_nodes_join_the_reservations_own_placement_group_or_none(name: str | None, placement: Any) -> None:
    template = synthesized(plan_with(reserved("decode", placement_group=name)))
    assert launch_template(template, "decode").get("Placement") == placement
    # The on-demand phase keeps the one that is made here.
    assert "Fn::GetAtt" in launch_template(template, "prefill")["Placement"]["GroupName"]


def test_no_placement_group_is_made_where_every_node_is_reserved() -> None:
    both = {**reserved("prefill"), **reserved("decode")}
    assert resources(synthesized(plan_with(both)), "AWS::EC2::PlacementGroup") == []


def test_reserved_nodes_target_their_reservation_and_are_replaced_old_ones_first() -> None:
    template = synthesized(plan_with(reserved("decode")))
    group, launch = node_group(template, "decode"), launch_template(template, "decode")
    assert group["CapacityType"] == "ON_DEMAND"
    assert group["InstanceTypes"] == ["g6.8xlarge"]
    assert launch["CapacityReservationSpecification"] == {
        "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
    }
    assert "InstanceMarketOptions" not in launch
    assert group["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "MINIMAL"}
    assert node_group(template, "prefill")["UpdateConfig"] == {"MaxUnavailable": 1, "UpdateStrategy": "DEFAULT"}


def test_a_capacity_block_has_all_four_parts_together() -> None:
    template = synthesized(plan_with(VARIANTS["capacity-block"]))
    for phase in PHASES:
        group, launch = node_group(template, phase), launch_template(template, phase)
        assert group["CapacityType"] == "CAPACITY_BLOCK"
        assert launch["InstanceMarketOptions"] == {"MarketType": "capacity-block"}
        assert launch["CapacityReservationSpecification"] == {
            "CapacityReservationTarget": {"CapacityReservationId": "cr-0123456789abcdef0"}
        }
        assert launch["InstanceType"] == "p5en.48xlarge"
        assert "InstanceTypes" not in group
        assert group["UpdateConfig"]["UpdateStrategy"] == "MINIMAL"


def test_on_demand_nodes_name_no_reservation(reference: dict[str, Any]) -> None:
    for phase in PHASES:
        launch = launch_template(reference, phase)
        assert not {"CapacityReservationSpecification", "InstanceMarketOptions", "InstanceType"} & launch.keys()
        assert node_group(reference, phase)["CapacityType"] == "ON_DEMAND"


def test_each_group_uses_the_newest_version_of_its_own_template(reference: dict[str, Any]) -> None:
    ids = set()
    for phase in PHASES:
        used = node_group(reference, phase)["LaunchTemplate"]
        (attribute, name) = (used["Version"]["Fn::GetAtt"][1], used["Id"]["Ref"])
        assert (attribute, used["Version"]["Fn::GetAtt"][0]) == ("LatestVersionNumber", name)
        ids.add(name)
    assert len(ids) == 2


def test_nodes_start_after_the_rules_of_their_security_group(reference: dict[str, Any]) -> None:
    rules = {
        key for key, found in reference["Resources"].items() if found["Type"].startswith("AWS::EC2::SecurityGroup")
    }
    groups = [found for found in reference["Resources"].values() if found["Type"] == "AWS::EKS::Nodegroup"]
    (security_group,) = [key for key in rules if reference["Resources"][key]["Type"] == "AWS::EC2::SecurityGroup"]
    assert all(set(group["DependsOn"]) == rules - {security_group} for group in groups)


def test_more_security_groups_go_onto_every_interface() -> None:
    plan = plan_with(VARIANTS["many-nodes-eight-gpus"])
    scope = stack(plan)
    own = aws_ec2.SecurityGroup.from_security_group_id(scope, "own", "sg-0123456789abcdef9")
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), security_groups=[own])
    interfaces = launch_template(template_of(scope), "decode")["NetworkInterfaces"]
    assert len(interfaces) == 33
    assert all(interface["Groups"][2:] == ["sg-0123456789abcdef9"] for interface in interfaces)


@pytest.mark.parametrize(("more", "refused"), [(3, False), (4, True)])
def test_an_interface_has_five_security_groups_at_most(more: int, refused: bool) -> None:
    plan = plan_with()
    scope = stack(plan)
    groups = [
        aws_ec2.SecurityGroup.from_security_group_id(scope, f"own{index}", f"sg-0123456789abcde{index:02x}")
        for index in range(more)
    ]

    def make() -> None:
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), security_groups=groups)

    if not refused:
        make()
        return
    with pytest.raises(
        PlanError, match="PD511 error qwen35-9b/gpu: 6 security groups, a network interface has at most 5"
    ):
        make()


def test_a_security_group_stands_once_on_an_interface() -> None:
    plan = plan_with()
    scope = stack(plan)
    theirs = aws_ec2.SecurityGroup.from_security_group_id(scope, "theirs", CLUSTER.security_group_id)
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), security_groups=[theirs, theirs])
    (interface,) = launch_template(template_of(scope), "decode")["NetworkInterfaces"]
    assert len(interface["Groups"]) == 2
    assert interface["Groups"][0] == CLUSTER.security_group_id


def test_an_id_that_is_none_of_a_security_group_is_refused() -> None:
    plan = plan_with()
    scope = stack(plan)
    nonsense = aws_ec2.SecurityGroup.from_security_group_id(scope, "n", "nonsense")
    with pytest.raises(PlanError, match=r"PD507 error .*: 'nonsense' is not a security group id"):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), security_groups=[nonsense])


@pytest.mark.parametrize("wrong", [["sg-0123456789abcdef9"], "sg-0123456789abcdef9", None])
def test_what_is_no_list_of_security_groups_is_refused(wrong: Any) -> None:
    plan = plan_with()
    with pytest.raises(PlanError, match=r"PD511 error .*: security_groups is not a list of security groups"):
        EksGpuNodeGroups(stack(plan), "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan), security_groups=wrong)


def test_the_stack_lies_in_the_plans_region() -> None:
    plan = plan_with()
    scope = Stack(App(), "elsewhere", env=Environment(region="eu-west-1"))
    with pytest.raises(
        PlanError, match="PD510 error elsewhere/gpu: the stack is in 'eu-west-1', the plan is for 'us-west"
    ):
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))


def test_a_stack_of_any_region_is_believed() -> None:
    plan = plan_with()
    scope = Stack(App(), "anywhere")
    EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    assert node_group(template_of(scope), "decode")["InstanceTypes"] == ["g6.8xlarge"]


def test_a_deployment_stands_once_in_a_cluster_and_again_in_another() -> None:
    plan, app = plan_with(), App()
    first, second = Stack(app, "first"), Stack(app, "second")
    other = ExistingCluster(name="other", security_group_id=CLUSTER.security_group_id, vpc_id=CLUSTER.vpc_id)
    EksGpuNodeGroups(first, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    EksGpuNodeGroups(second, "gpu", plan=plan, cluster=other, subnet=subnet_of(plan))
    EksGpuNodeGroups(second, "more", plan=plan_with({"name": "more"}), cluster=CLUSTER, subnet=subnet_of(plan))
    with pytest.raises(PlanError, match="PD504 error second/again: first/gpu has 'qwen35-9b' already"):
        EksGpuNodeGroups(second, "again", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    assert len(resources(template_of(second), "AWS::EKS::Nodegroup")) == 4


def test_a_cluster_of_the_same_name_in_another_account_region_or_stage_is_another() -> None:
    app, plan = App(), plan_with()
    for number, account in enumerate(("111111111111", "222222222222")):
        scope = Stack(app, f"account-{number}", env=Environment(account=account, region=plan.region))
        EksGpuNodeGroups(scope, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    elsewhere = plan_with({"region": "eu-south-2", "availability_zone": "eu-south-2a"})
    scope = Stack(app, "region", env=Environment(account="111111111111", region="eu-south-2"))
    EksGpuNodeGroups(scope, "gpu", plan=elsewhere, cluster=CLUSTER, subnet=subnet_of(elsewhere))
    stage = Stack(Stage(app, "stage"), "s", env=Environment(account="111111111111", region=plan.region))
    EksGpuNodeGroups(stage, "gpu", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))
    assert len([found for found in app.node.find_all() if isinstance(found, EksGpuNodeGroups)]) == 4


def test_a_refused_construct_does_not_stand_in_the_way_of_the_next() -> None:
    plan = plan_with()
    scope = stack(plan)
    bad = ExistingCluster(name="-", security_group_id=CLUSTER.security_group_id, vpc_id=CLUSTER.vpc_id)
    with pytest.raises(PlanError, match="PD507"):
        EksGpuNodeGroups(scope, "bad", plan=plan, cluster=bad, subnet=subnet_of(plan))
    with pytest.raises(PlanError, match="PD508"):
        EksGpuNodeGroups(scope, "worse", plan=plan, cluster=CLUSTER, subnet=())  # type: ignore[arg-type]
    EksGpuNodeGroups(scope, "good", plan=plan, cluster=CLUSTER, subnet=subnet_of(plan))


def test_the_escape_hatches_lead_to_the_resources() -> None:
    groups = node_groups(plan_with())
    resource = groups.decode.node.default_child
    assert isinstance(resource, aws_eks.CfnNodegroup)
    resource.add_property_override("UpdateConfig.MaxUnavailable", 2)
    groups.decode.launch_template.add_property_override("LaunchTemplateData.Monitoring.Enabled", True)
    template = template_of(Stack.of(groups))
    assert node_group(template, "decode")["UpdateConfig"]["MaxUnavailable"] == 2
    assert launch_template(template, "decode")["Monitoring"] == {"Enabled": True}
    assert node_group(template, "prefill")["UpdateConfig"]["MaxUnavailable"] == 1


def test_what_the_construct_offers_to_others(reference_plan: DeploymentPlan) -> None:
    groups = node_groups(reference_plan)
    scope = Stack.of(groups)
    assert groups.plan is reference_plan
    assert isinstance(groups.placement_group, CfnElement)
    assert scope.resolve(groups.prefill.node_group_name)["Fn::GetAtt"][1] == "NodegroupName"
    other = aws_ec2.SecurityGroup.from_security_group_id(scope, "files", "sg-0123456789abcdef9")
    other.add_ingress_rule(groups.security_group, aws_ec2.Port.tcp(2049))
    groups.security_group.add_ingress_rule(aws_ec2.Peer.ipv4("10.0.0.0/8"), aws_ec2.Port.tcp(9400))
    other.connections.allow_to(groups.security_group, aws_ec2.Port.tcp(9401))
    rules = resources(template_of(scope), "AWS::EC2::SecurityGroupIngress")
    assert sorted(rule["FromPort"] for rule in rules if "FromPort" in rule) == [2049, 9400, 9401]
