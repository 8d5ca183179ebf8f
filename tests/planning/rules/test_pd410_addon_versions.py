from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd410_addon_versions import RULE
from support.rules import findings_of

NEW = {"eks_cluster": {"other_zones": ["us-west-2b"]}}
ADDONS = load_catalog().addons


@pytest.mark.parametrize(
    ("changes", "unconfirmed"),
    [
        ({"kubernetes_version": "1.36"}, []),
        ({"kubernetes_version": "1.35"}, ["eks-node-monitoring-agent"]),
        ({"kubernetes_version": "1.36", "model_cache.storage": "efs"}, ["aws-efs-csi-driver"]),
        ({"kubernetes_version": "1.32"}, ["eks-pod-identity-agent", "vpc-cni", "eks-node-monitoring-agent"]),
    ],
)
def test_warns_of_each_add_on_that_nobody_saw(changes: dict[str, Any], unconfirmed: list[str]) -> None:
    findings = findings_of(RULE, {**NEW, **changes})
    assert [finding.message.split()[0] for finding in findings] == unconfirmed
    assert {finding.subject for finding in findings} <= {"eks_cluster.addon_versions"}
    assert {finding.severity for finding in findings} <= {Severity.WARNING}


def test_names_version_count_and_the_command_that_tells() -> None:
    (finding,) = findings_of(RULE, NEW)
    version = ADDONS["eks-node-monitoring-agent"].versions["1.35"]
    assert finding.message == (f"eks-node-monitoring-agent {version} was seen for 1 Kubernetes versions, not for 1.35")
    command = "aws eks describe-addon-versions --kubernetes-version 1.35 --addon-name eks-node-monitoring-agent"
    assert f"`{command}`" in finding.remedy


def test_believes_a_version_that_the_specification_states() -> None:
    stated = {"eks_cluster.addon_versions": {"eks-node-monitoring-agent": "v1.7.2-eksbuild.1"}}
    assert findings_of(RULE, {**NEW, **stated}) == []


def test_says_nothing_of_a_cluster_that_exists_or_of_an_unknown_kubernetes() -> None:
    assert findings_of(RULE, {"kubernetes_version": "1.32"}) == []
    assert findings_of(RULE, {**NEW, "kubernetes_version": "1.31"}) == []
