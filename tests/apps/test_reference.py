"""The reference deployment, as `make synth` writes it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from readers import cfn_lint
from support.processes import ROOT, python
from support.template import REFERENCE_KINDS


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("reference")
    # With the CDK's own validation, whose default rules are errors in cdk.json.
    done = python("tools/synth.py", "apps/reference.yaml", "--output", str(output), CDK_VALIDATION="true")
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return output


@pytest.fixture(scope="module")
def written(results: Path) -> Path:
    return results / "dist"


@pytest.fixture(scope="module")
def template(results: Path) -> dict[str, Any]:
    (file,) = (results / "cdk.out").glob("*.template.json")
    assert file.name == "qwen35-9b-gpu-nodes.template.json"
    data: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return data


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


def test_the_parameters_are_what_is_not_known_before_it_is_deployed(template: dict[str, Any]) -> None:
    kinds = {name: parameter["Type"] for name, parameter in template["Parameters"].items()}
    assert kinds == {
        "ClusterName": "String",
        "ClusterSecurityGroupId": "AWS::EC2::SecurityGroup::Id",
        "VpcId": "AWS::EC2::VPC::Id",
        "SubnetId": "AWS::EC2::Subnet::Id",
        "BootstrapVersion": "AWS::SSM::Parameter::Value<String>",
    }


def test_cfn_lint_has_nothing_to_say(template: dict[str, Any]) -> None:
    assert cfn_lint.findings(template, "us-west-2") == []


def test_nothing_is_looked_up_in_aws(results: Path) -> None:
    manifest = json.loads((results / "cdk.out" / "manifest.json").read_text(encoding="utf-8"))
    assert "missing" not in manifest
    assert manifest["artifacts"]["qwen35-9b-gpu-nodes"]["environment"] == "aws://unknown-account/us-west-2"


def test_the_results_name_no_folder_of_this_machine(results: Path) -> None:
    files = [file for file in results.rglob("*") if file.is_file()]
    assert len(files) > 5
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


def test_plain_cdk_synth_writes_the_same(template: dict[str, Any], results: Path, tmp_path: Path) -> None:
    # Through cdk.json, whose `python` is found on the PATH.
    cli(tmp_path / "cdk.out")
    (file,) = (results / "cdk.out").glob("*.template.json")
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
