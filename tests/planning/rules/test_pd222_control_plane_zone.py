from typing import Any

import pytest

from constructs_pd.planning.rules.pd222_control_plane_zone import RULE
from support.rules import findings_of


def zones(own: str, *others: str) -> dict[str, Any]:
    return {"region": "us-east-1", "availability_zone": own, "eks_cluster": {"other_zones": list(others)}}


@pytest.mark.parametrize("own", ["use1-az1", "us-east-1a"])
def test_accepts_zones_that_eks_takes_or_that_nobody_knows(own: str) -> None:
    assert findings_of(RULE, zones(own, "use1-az2", "us-east-1c")) == []


def test_accepts_any_zone_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE, {"availability_zone": "use1-az3"}) == []


@pytest.mark.parametrize(
    ("changes", "subject"),
    [
        (zones("use1-az3", "use1-az1"), "availability_zone"),
        (zones("use1-az1", "use1-az2", "use1-az3"), "eks_cluster.other_zones.1"),
    ],
)
def test_refuses_a_zone_that_eks_refuses(changes: dict[str, Any], subject: str) -> None:
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == subject
    assert finding.message == "use1-az3 is one of 3 zones in which EKS takes no subnet of a cluster"
