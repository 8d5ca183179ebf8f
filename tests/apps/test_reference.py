"""The reference deployment, as `make synth` writes it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from constructs_pd import plan_file
from readers import cfn_lint
from support.new_cluster import STACKS
from support.processes import ROOT, python
from support.specs import EXISTING_FILE, REFERENCE_FILE
from support.template import REFERENCE_KINDS


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_from(REFERENCE_FILE, tmp_path_factory.mktemp("reference"))


@pytest.fixture(scope="module")
def existing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return written_from(EXISTING_FILE, tmp_path_factory.mktemp("existing"))


def written_from(specification: Path, output: Path) -> Path:
    # With the CDK's own validation, whose default rules are errors in cdk.json.
    done = python("tools/synth.py", str(specification), "--output", str(output), CDK_VALIDATION="true")
    assert done.returncode == 0, done.stderr
    # The one thing that stays open: which version of an add-on EKS offers on the day of the deployment.
    said = [line for line in done.stderr.splitlines() if not line.startswith("      ")]
    assert len(said) == (2 if specification == REFERENCE_FILE else 0)
    assert all("PD410 warning eks_cluster.addon_versions" in line for line in said)
    return output


@pytest.fixture(scope="module")
def written(results: Path) -> Path:
    return results / "dist"


def templates(output: Path) -> dict[str, dict[str, Any]]:
    """Return the templates by the part of the stack's name after the deployment's."""
    return {
        file.name.removeprefix("qwen35-9b-").removesuffix(".template.json"): json.loads(file.read_text("utf-8"))
        for file in (output / "cdk.out").glob("*.template.json")
    }


@pytest.fixture(scope="module")
def template(existing: Path) -> dict[str, Any]:
    ((name, data),) = templates(existing).items()
    assert name == "gpu-nodes"
    return data


def test_both_specifications_are_of_one_deployment() -> None:
    reference, other = (yaml.safe_load(file.read_text("utf-8")) for file in (REFERENCE_FILE, EXISTING_FILE))
    assert reference.pop("eks_cluster")["other_zones"] == ["us-west-2b"]
    assert reference["model_cache"].pop("storage") == "efs"
    assert reference == other


@pytest.mark.parametrize("stack", [stack for stack in STACKS if stack != "workload"])
def test_every_stack_is_written_and_readable(results: Path, stack: str, yaml_file: SnapshotAssertion) -> None:
    found = templates(results)
    assert sorted(found) == sorted(STACKS)
    resources = found[stack]["Resources"]
    assert resources.pop("CDKMetadata")["Type"] == "AWS::CDK::Metadata"  # changes with every version of the CDK
    kinds = Counter(resource["Type"] for resource in resources.values())
    assert {kind: kinds[kind] for kind in COUNTED[stack]} == COUNTED[stack]
    assert without_assets(found[stack]) == yaml_file


COUNTED = {
    "network": {"AWS::EC2::Subnet": 4, "AWS::EC2::NatGateway": 1, "AWS::EC2::VPCEndpoint": 1},
    "cluster": {"AWS::EKS::Cluster": 1, "AWS::EKS::Addon": 5, "AWS::EKS::Nodegroup": 1},
    "add-ons": {"Custom::AWSCDK-EKS-HelmChart": 4, "AWS::EKS::Addon": 1, "AWS::EFS::FileSystem": 1},
    "gpu-nodes": REFERENCE_KINDS,
}


def without_assets(template: dict[str, Any]) -> dict[str, Any]:
    """Return a template without the hashes of the CDK's own files, which change with every version of it."""
    text = re.sub(r"[0-9a-f]{64}\.zip", "ASSET.zip", json.dumps(template))
    data: dict[str, Any] = json.loads(text)
    return data


def test_no_account_is_needed_and_nothing_is_looked_up(results: Path) -> None:
    manifest = json.loads((results / "cdk.out" / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest
    stacks = [artifact for name, artifact in manifest["artifacts"].items() if name.removeprefix("qwen35-9b-") in STACKS]
    assert [artifact["environment"] for artifact in stacks] == ["aws://unknown-account/us-west-2"] * 5


def test_the_workload_is_what_the_manifests_say(results: Path) -> None:
    (workload,) = [
        found["Properties"]
        for found in templates(results)["workload"]["Resources"].values()
        if found["Type"] == "Custom::AWSCDK-EKS-KubernetesResource"
    ]
    applied = json.loads(workload["Manifest"])
    for manifest in applied:  # the CDK's own, by which it finds what was removed
        labels = manifest["metadata"]["labels"]
        for label in [label for label in labels if label.startswith("aws.cdk.eks/prune-")]:
            del labels[label]
    (file,) = (results / "dist").glob("*.yaml")
    written = list(yaml.safe_load_all(file.read_text(encoding="utf-8")))
    for manifest in written:
        manifest["metadata"].setdefault("labels", {})
    assert len(applied) == 9
    assert applied == written


def test_one_readable_template(template: dict[str, Any], yaml_file: SnapshotAssertion) -> None:
    metadata = template["Resources"].pop("CDKMetadata")  # changes with every version of the CDK
    assert metadata["Type"] == "AWS::CDK::Metadata"
    assert Counter(resource["Type"] for resource in template["Resources"].values()) == REFERENCE_KINDS
    assert template == yaml_file


def test_a_subnet_of_another_zone_or_vpc_is_refused_before_anything_is_made(template: dict[str, Any]) -> None:
    for attribute, expected in {"AvailabilityZone": "us-west-2a", "VpcId": {"Ref": "VpcId"}}.items():
        (assertion,) = template["Rules"][f"Subnet{attribute}"]["Assertions"]
        known = {"Fn::ValueOfAll": ["AWS::EC2::Subnet::Id", attribute]}
        assert assertion["Assert"] == {"Fn::EachMemberEquals": [known, expected]}


def test_the_parameters_are_what_is_not_known_before_it_is_deployed(results: Path, template: dict[str, Any]) -> None:
    bootstrapped = {"BootstrapVersion": "AWS::SSM::Parameter::Value<String>"}
    assert kinds_of_parameters(template) == {
        "ClusterName": "String",
        "ClusterSecurityGroupId": "AWS::EC2::SecurityGroup::Id",
        "VpcId": "AWS::EC2::VPC::Id",
        "SubnetId": "AWS::EC2::Subnet::Id",
        **bootstrapped,
    }
    for stack, found in templates(results).items():
        own = {"AdminArn": "String"} if stack == "cluster" else {}
        assert kinds_of_parameters(found) == {**own, **bootstrapped}


def kinds_of_parameters(template: dict[str, Any]) -> dict[str, str]:
    return {name: parameter["Type"] for name, parameter in template["Parameters"].items()}


def test_cfn_lint_has_nothing_to_say(results: Path, existing: Path) -> None:
    for output in (results, existing):
        for template in templates(output).values():
            assert cfn_lint.findings(template, "us-west-2") == []


def test_an_existing_clusters_charts_come_with_their_values(existing: Path) -> None:
    plan = plan_file(EXISTING_FILE)
    files = sorted((existing / "dist" / "charts").iterdir())
    assert [file.name for file in files] == [f"{chart.name}.yaml" for chart in plan.charts]
    assert len(files) == 4
    for file, chart in zip(files, plan.charts, strict=True):
        text = file.read_text(encoding="utf-8")
        assert text.startswith(f"# helm upgrade --install {chart.name} {chart.name} --version {chart.version} ")
        assert yaml.safe_load(text) == chart.values


def test_the_results_name_no_folder_of_this_machine(results: Path) -> None:
    files = [file for file in results.rglob("*") if file.is_file() and "asset." not in str(file)]
    assert len(files) > 15
    for file in files:
        assert str(results) not in file.read_text(encoding="utf-8"), file


def test_one_readable_file(written: Path, yaml_file: SnapshotAssertion) -> None:
    (manifest,) = written.iterdir()
    assert manifest.name == "qwen35-9b.k8s.yaml"
    text = manifest.read_text(encoding="utf-8")
    kinds = Counter(document["kind"] for document in yaml.safe_load_all(text))
    assert kinds == {
        "Namespace": 1,
        "ServiceAccount": 1,
        "PersistentVolumeClaim": 1,
        "PodDisruptionBudget": 3,
        "RayService": 1,
        "Service": 1,
        "Ingress": 1,
    }
    assert text == yaml_file


def test_every_object_is_there_exactly_once_and_the_namespace_first(written: Path) -> None:
    objects: list[dict[str, Any]] = [
        document for file in written.iterdir() for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    ]
    identities = Counter(
        (o["apiVersion"], o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects
    )
    assert set(identities.values()) == {1}
    assert objects[0]["kind"] == "Namespace"


def test_a_user_can_apply_it_with_nothing_secret_inside(written: Path) -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in written.iterdir())
    assert "kind: Secret" not in text
    assert "secretKeyRef" in text


def test_plain_cdk8s_synth_writes_the_same(written: Path, tmp_path: Path) -> None:
    # Through cdk8s.yaml, whose `python` is found on the PATH.
    here = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}", "CDK8S_CHECK_UPGRADE": "false"}
    cli = str(ROOT / "node_modules" / ".bin" / "cdk8s")
    command = [str(here / "node"), cli, "synth", "--output", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {file.name: file.read_bytes() for file in (tmp_path / "dist").iterdir()} == {
        file.name: file.read_bytes() for file in written.iterdir()
    }


def test_plain_cdk_synth_writes_the_same(results: Path, tmp_path: Path) -> None:
    # Through cdk.json, whose `python` is found on the PATH.
    cli(tmp_path / "cdk.out")
    for file in (results / "cdk.out").glob("*.template.json"):
        assert (tmp_path / "cdk.out" / file.name).read_bytes() == file.read_bytes()


def cli(output: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run `cdk synth` as a user does."""
    here = Path(sys.executable).parent
    quiet = {"CDK_DISABLE_VERSION_CHECK": "true", "CDK_DISABLE_CLI_TELEMETRY": "true"}
    no_aws = {"AWS_EC2_METADATA_DISABLED": "true"}
    environment = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}", **quiet, **no_aws, **variables}
    program = [str(here / "node"), str(ROOT / "node_modules" / ".bin" / "cdk")]
    command = [*program, "synth", "--quiet", "--no-notices", "--output", str(output), *arguments]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    return done


def test_a_platform_teams_own_app_with_an_imported_cluster(tmp_path: Path, yaml_file: SnapshotAssertion) -> None:
    # Account and region are both set in it; without credentials the CLI could look nothing up.
    cli(tmp_path / "cdk.out", "--app", f"{sys.executable} apps/platform_app.py", CDK_VALIDATION="true")
    manifest = json.loads((tmp_path / "cdk.out" / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest
    assert manifest["artifacts"]["platform"]["environment"] == "aws://123456789012/us-west-2"
    template = json.loads((tmp_path / "cdk.out" / "platform.template.json").read_text(encoding="utf-8"))
    assert cfn_lint.findings(template, "us-west-2") == []
    template["Resources"].pop("CDKMetadata")
    kinds = Counter(resource["Type"] for resource in template["Resources"].values())
    assert (kinds["AWS::EKS::Nodegroup"], kinds["AWS::EC2::SecurityGroup"]) == (2, 2)
    own = [found["Properties"] for found in template["Resources"].values() if "Ingress" in found["Type"]]
    (nfs,) = [rule for rule in own if rule.get("FromPort") == 2049]
    assert "GpuNodesSecurityGroup" in nfs["SourceSecurityGroupId"]["Fn::GetAtt"][0]
    assert template == yaml_file
