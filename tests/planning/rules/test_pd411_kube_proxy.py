import pytest

from constructs_pd.planning.rules.pd411_kube_proxy import RULE
from support.rules import findings_of

ZONES = {"eks_cluster.other_zones": ["us-west-2b"]}


@pytest.mark.parametrize("versions", [{}, {"kube-proxy": "v1.35.9-eksbuild.1"}, {"coredns": "v1.14.3-eksbuild.2"}])
def test_accepts_the_clusters_own_and_other_add_ons(versions: dict[str, str]) -> None:
    assert findings_of(RULE, {**ZONES, "eks_cluster.addon_versions": versions}) == []


@pytest.mark.parametrize("version", ["v1.34.6-eksbuild.29", "v1.36.0-eksbuild.25", "v1.3.5-eksbuild.1"])
def test_refuses_another_minor_version(version: str) -> None:
    (finding,) = findings_of(RULE, {**ZONES, "eks_cluster.addon_versions": {"kube-proxy": version}})
    assert finding.subject == "eks_cluster.addon_versions.kube-proxy"
    assert finding.message == f"kube-proxy {version} in a cluster of 1.35"


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE) == []
