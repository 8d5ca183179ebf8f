import pytest

from constructs_pd.planning.rules.pd223_zone_names import RULE
from support.rules import findings_of

VIRGINIA = {"region": "us-east-1", "availability_zone": "us-east-1a", "eks_cluster": {"other_zones": ["us-east-1b"]}}
BY_ID = {"region": "us-east-1", "availability_zone": "use1-az1", "eks_cluster": {"other_zones": ["use1-az2"]}}


def test_warns_of_names_where_eks_takes_some_zones_only() -> None:
    (finding,) = findings_of(RULE, VIRGINIA)
    assert finding.subject == "eks_cluster.other_zones"
    assert finding.message.startswith("use1-az3 takes no subnet of a cluster, 1 zone of us-east-1")


@pytest.mark.parametrize(
    "changes",
    [BY_ID, {"eks_cluster": {"other_zones": ["us-west-2b"]}}, {**VIRGINIA, "eks_cluster": None}],
    ids=["by id", "a region whose zones it all takes", "a cluster that exists"],
)
def test_says_nothing(changes: dict[str, object]) -> None:
    assert findings_of(RULE, changes) == []
