from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd221_system_nodes import RULE
from support.rules import findings_of

ROWS = load_catalog().system_instances
WITHOUT_M7I = {"region": "ca-west-1", "availability_zone": "ca-west-1a"}
# An m7i.xlarge leaves 14162 MiB to pods, an m7i.4xlarge 57691; 2560 of them are not the head's.
MOST_OF_AN_XLARGE, MOST_OF_A_4XLARGE = 11, 53


def nodes(name: str, **changes: Any) -> dict[str, Any]:
    return {"eks_cluster": {"other_zones": ["us-west-2b"], "system_nodes": {"instance_type": name}}, **changes}


@pytest.mark.parametrize("name", ROWS)
def test_accepts_every_type_of_the_catalogue(name: str) -> None:
    assert findings_of(RULE, nodes(name)) == []


def test_accepts_the_default_and_a_cluster_that_exists() -> None:
    assert findings_of(RULE, {"eks_cluster": {"other_zones": ["us-west-2b"]}}) == []
    assert findings_of(RULE, {"head.memory_gib": 512}) == []


@pytest.mark.parametrize(
    ("name", "remedy"),
    [
        ("m7i.xlarg", "perhaps m7i.xlarge or m7i.4xlarge or m7i.2xlarge"),
        ("t", f"known are {', '.join(sorted(ROWS))}"),
    ],
)
def test_refuses_an_unknown_type_with_the_known_ones(name: str, remedy: str) -> None:
    (finding,) = findings_of(RULE, nodes(name))
    assert finding.subject == "eks_cluster.system_nodes.instance_type"
    assert finding.message == f"{name!r} is none of the 6 known types for system nodes"
    assert finding.remedy == remedy


def test_refuses_a_type_that_no_zone_of_the_region_offers() -> None:
    (finding,) = findings_of(RULE, nodes("m7i.xlarge", **WITHOUT_M7I))
    assert finding.message == "0 of 3 zones of ca-west-1 offer m7i.xlarge"
    assert finding.remedy == "choose m6i.2xlarge, m6i.4xlarge, m6i.xlarge"


@pytest.mark.parametrize(
    "changes",
    [WITHOUT_M7I | {"eks_cluster.system_nodes.instance_type": "m6i.xlarge"}, {"region": "cn-north-1"}],
)
def test_accepts_a_region_that_offers_it_or_of_which_nothing_is_known(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, nodes("m7i.xlarge", **changes)) == []


def test_accepts_a_head_that_fits() -> None:
    assert findings_of(RULE, nodes("m7i.xlarge", **{"head.memory_gib": MOST_OF_AN_XLARGE})) == []
    assert findings_of(RULE, nodes("m7i.4xlarge", **{"head.memory_gib": MOST_OF_A_4XLARGE})) == []


def test_refuses_a_head_that_does_not_fit_with_both_numbers_and_names_larger_types() -> None:
    (finding,) = findings_of(RULE, nodes("m7i.xlarge", **{"head.memory_gib": MOST_OF_AN_XLARGE + 1}))
    assert finding.message == "the head takes 12,288 MiB, m7i.xlarge leaves it 11,602 MiB"
    assert finding.remedy == "choose m6i.2xlarge, m6i.4xlarge, m7i.2xlarge, m7i.4xlarge"


def test_names_larger_types_that_the_region_offers() -> None:
    (finding,) = findings_of(RULE, nodes("m6i.xlarge", **WITHOUT_M7I, **{"head.memory_gib": 32}))
    assert finding.remedy == "choose m6i.4xlarge"


def test_has_a_head_that_fits_no_type_made_smaller() -> None:
    (finding,) = findings_of(RULE, nodes("m7i.4xlarge", **{"head.memory_gib": MOST_OF_A_4XLARGE + 1}))
    assert finding.remedy == f"lower head.memory_gib to {MOST_OF_A_4XLARGE} or less"
