from constructs_pd.planning.rules.pd133_unused_of_cluster import RULE
from support.rules import findings_of

CLUSTER = {"eks_cluster": {"other_zones": ["us-west-2b"]}}
SUBNETS = {"endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]}
DRIVER = {"eks_cluster.addon_versions": {"aws-efs-csi-driver": "v3.4.0-eksbuild.1"}}


def test_accepts_a_cluster_with_nothing_beside_it() -> None:
    assert findings_of(RULE, CLUSTER) == []
    assert findings_of(RULE, SUBNETS) == []


def test_refuses_subnets_that_cannot_exist_yet() -> None:
    (finding,) = findings_of(RULE, CLUSTER | SUBNETS)
    assert (finding.subject, finding.message) == (
        "endpoint.subnet_ids",
        "2 subnets that exist, for a cluster whose network is made now",
    )


def test_refuses_the_version_of_an_add_on_that_is_not_made() -> None:
    (finding,) = findings_of(RULE, CLUSTER | DRIVER)
    assert finding.subject == "eks_cluster.addon_versions.aws-efs-csi-driver"
    assert "none of the 5 add-ons" in finding.message


def test_accepts_it_where_the_add_on_is_made() -> None:
    assert findings_of(RULE, CLUSTER | DRIVER | {"model_cache.storage": "efs"}) == []
