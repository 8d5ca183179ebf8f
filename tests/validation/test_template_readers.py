"""Every template is accepted by what reads it later: cfn-lint, the CDK's own validation, cdk-nag."""

from __future__ import annotations

import json
from typing import Any

import pytest

from readers import cfn_lint
from support.new_cluster import CHANGES, STACKS, plan_of, stacks_of
from support.processes import ROOT, python
from support.specs import VARIANTS, plan_with
from support.template import node_group, synthesized

Report = dict[str, Any]


def validated(*cases: dict[str, Any]) -> Report:
    tests = str(ROOT / "tests")
    done = python(
        "tests/readers/cdk_validation.py",
        given=json.dumps(cases),
        CDK_VALIDATION="true",
        PYTHONPATH=f"{tests}:{ROOT}:{ROOT / 'apps'}",
    )
    assert done.returncode == 0, done.stderr
    report: Report = json.loads(done.stdout)
    return report


@pytest.fixture(scope="module")
def all_variants() -> Report:
    return validated(*({"changes": changes} for changes in (*VARIANTS.values(), *CHANGES.values())))


def test_the_cdks_own_validation_has_nothing_to_say_with_its_rules_as_errors(all_variants: Report) -> None:
    # Without a violation the CDK leaves the validation of CloudFormation out of its report.
    assert [found for found in all_variants["violations"] if found[0] != "AwsSolutions"] == []
    assert set(all_variants["conclusions"].values()) == {"success"}


def test_cdk_nag_has_nothing_to_say_that_is_not_acknowledged_with_a_reason(all_variants: Report) -> None:
    assert all_variants["conclusions"]["AwsSolutions"] == "success"
    assert [found for found in all_variants["violations"] if found[0] == "AwsSolutions"] == []
    assert {kind_of(name) for name, _ in all_variants["acknowledged"]} == ACCEPTED
    assert all(len(reason) > 30 for _, reason in all_variants["acknowledged"])
    wildcards = [name for name, _ in all_variants["acknowledged"] if "IAM5" in name and "Kubectl" not in name]
    assert len(wildcards) == 9 * len([changes for changes in CHANGES.values() if "endpoint" not in changes])


# Managed policies by their names, other findings by cdk-nag's and cfn-lint's.
ACCEPTED = {
    "AmazonEKSClusterPolicy",
    "AmazonEKSWorkerNodePolicy",
    "AmazonEC2ContainerRegistryPullOnly",
    "AmazonEKS_CNI_Policy",
    "AmazonEFSCSIDriverPolicy",
    "AWSLambdaBasicExecutionRole",
    "AWSLambdaVPCAccessExecutionRole",
    "IAM5",
    "L1",
    "VPC7",
    "W3010",
}


def kind_of(finding: str) -> str:
    """Return a managed policy's name, or the rule's."""
    rule, _, subject = finding.removeprefix("AwsSolutions-").partition("[")
    return subject.rpartition("/")[2].removesuffix("]") if rule == "IAM4" else rule


@pytest.mark.parametrize(
    ("overrides", "rule"),
    [({"Instancetypes": ["x"]}, "F3002"), ({"ScalingConfig.MinSize": "many"}, "F3012"), ({"AmiType": "AL9"}, "W3030")],
)
def test_the_cdks_own_validation_notices_what_is_wrong(overrides: dict[str, Any], rule: str) -> None:
    report = validated({"changes": {}, "overrides": overrides})
    assert [(plugin, name) for plugin, name, _ in report["violations"]] == [("CloudFormation Validate", rule)]
    expected = "success" if rule.startswith("W") else "failure"
    assert report["conclusions"]["CloudFormation Validate"] == expected


@pytest.mark.parametrize("changes", VARIANTS.values(), ids=VARIANTS)
def test_cfn_lint_has_nothing_to_say(changes: dict[str, Any]) -> None:
    plan = plan_with(changes)
    assert cfn_lint.findings(synthesized(plan), plan.region) == []


@pytest.mark.parametrize("variant", CHANGES)
def test_cfn_lint_has_nothing_to_say_of_any_stack(variant: str) -> None:
    plan = plan_of(variant)
    found = {name: cfn_lint.findings(template, plan.region) for name, template in stacks_of(plan).items()}
    assert found == {name: [] for name in STACKS}


def test_cfn_lint_notices_what_is_wrong() -> None:
    template = synthesized(plan_with())
    group = node_group(template, "decode")
    group["AmiType"] = "AL9"
    group["Instancetypes"] = group.pop("InstanceTypes")
    rules = [finding.split()[0] for finding in cfn_lint.findings(template, "us-west-2")]
    assert sorted(rules) == ["E3002", "E3030"]
