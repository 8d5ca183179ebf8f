import pytest

from constructs_pd.planning import defaults
from constructs_pd.planning.rules.pd128_addresses import RULE
from support.rules import findings_of

SMALLEST = {"eks_cluster": {"other_zones": ["us-west-2b"], "vpc_cidr": "10.0.0.0/20"}}
ADDRESSES = 2 ** (32 - 20) // 4 - 5
MOST_NODES = ADDRESSES // defaults.ADDRESSES_PER_NODE


def test_accepts_as_many_nodes_as_have_addresses() -> None:
    assert findings_of(RULE, {**SMALLEST, "decode.max_nodes": MOST_NODES - 3}) == []


def test_refuses_one_node_too_many_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {**SMALLEST, "decode.max_nodes": MOST_NODES - 2})
    needed = (MOST_NODES + 1) * defaults.ADDRESSES_PER_NODE
    assert finding.subject == "eks_cluster.vpc_cidr"
    assert finding.message == (
        f"{MOST_NODES + 1} nodes take up to {needed:,} addresses, the subnet in us-west-2a has 1,019"
    )


@pytest.mark.parametrize("nodes", ["prefill.max_nodes", "decode.max_nodes", "eks_cluster.system_nodes.count"])
def test_counts_the_nodes_of_both_phases_and_of_the_system(nodes: str) -> None:
    assert len(findings_of(RULE, {**SMALLEST, nodes: MOST_NODES})) == 1


@pytest.mark.parametrize(("prefix", "findings"), [(16, 0), (17, 1)])
def test_the_widest_network_has_room_for_a_hundred_nodes(prefix: int, findings: int) -> None:
    wide = {"eks_cluster": {"other_zones": ["us-west-2b"], "vpc_cidr": f"10.0.0.0/{prefix}"}}
    assert len(findings_of(RULE, {**wide, "decode.max_nodes": 100})) == findings


def test_says_nothing_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE, {"decode.max_nodes": 2000}) == []


@pytest.mark.parametrize("cidr", ["10.0.0.1/16", "10.0.0.0/21", "10.0.0.0/32"])
def test_leaves_a_network_that_cannot_be_divided_to_its_own_rule(cidr: str) -> None:
    assert findings_of(RULE, {**SMALLEST, "eks_cluster.vpc_cidr": cidr, "decode.max_nodes": 2000}) == []
