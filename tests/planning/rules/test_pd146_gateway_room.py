from __future__ import annotations

from typing import Any

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.rules.pd146_gateway_room import RULE, worked
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import spec_with


def nodes(replicas: int = 2, *, head_gib: int = 8, name: str = "m7i.xlarge", count: int = 2) -> dict[str, Any]:
    return {
        "eks_cluster": {"other_zones": ["us-west-2b"], "system_nodes": {"instance_type": name, "count": count}},
        "head.memory_gib": head_gib,
        "endpoint.gateway": {**GATEWAY, "replicas": replicas},
    }


def test_accepts_what_fits() -> None:
    assert findings_of(RULE, nodes()) == []
    # An m7i.xlarge has 14,162 MiB, 2,560 of them for others: 338 MiB are left beside a head of 11 GiB.
    assert findings_of(RULE, nodes(2, head_gib=11)) == []
    assert findings_of(RULE, nodes(3, head_gib=11, count=3)) == []


def test_refuses_what_does_not() -> None:
    (finding,) = findings_of(RULE, nodes(3, head_gib=11))
    assert finding.subject == "endpoint.gateway.replicas"
    assert (
        "2 of the gateway's pods on each of 2 system nodes take 512 MiB and 500 thousandths of a CPU" in finding.message
    )
    assert "the head leaves 338 MiB and 1,420 on its node" in finding.message


def test_counts_cpu_as_well() -> None:
    # 3,920 thousandths of an m7i.xlarge, 2,000 of the head, 500 of others: 5 pods of 250 fit each of two nodes.
    assert findings_of(RULE, nodes(10)) == []
    (finding,) = findings_of(RULE, nodes(11))
    assert "take 1,536 MiB and 1,500 thousandths" in finding.message
    assert findings_of(RULE, nodes(20, name="m7i.2xlarge")) == []


def test_leaves_a_head_without_room_and_an_unknown_type_to_their_own_rule() -> None:
    assert findings_of(RULE, nodes(head_gib=12)) == []
    assert findings_of(RULE, nodes(name="t")) == []


def test_says_nothing_without_a_gateway_or_of_a_cluster_that_exists() -> None:
    assert findings_of(RULE, {**nodes(20, head_gib=11), "endpoint.gateway": None}) == []
    assert findings_of(RULE, {**nodes(20, head_gib=11), "eks_cluster": None}) == []


def test_says_how_it_counts() -> None:
    assert list(worked(gather(spec_with(nodes()), load_catalog()))) == [
        "1 pods x 256 MiB = 256 MiB; the head leaves 3,410 MiB",
        "1 pods x 250 = 250 thousandths of a CPU; the head leaves 1,420",
    ]
    assert list(worked(gather(spec_with(), load_catalog()))) == [
        "there is no gateway, or no cluster is made, or its type of system nodes is not known"
    ]
