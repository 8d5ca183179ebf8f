from constructs_pd.planning.rules.pd114_upgrade_room import RULE
from support.rules import findings_of

UPGRADE = {"upgrade": {"strategy": "new_cluster"}, "prefill.replicas": 2, "prefill.max_nodes": 4, "decode.replicas": 1}


def test_accepts_no_upgrade_without_room() -> None:
    assert findings_of(RULE) == []


def test_accepts_twice_the_nodes() -> None:
    assert findings_of(RULE, {**UPGRADE, "decode.max_nodes": 2}) == []


def test_refuses_one_node_too_few_with_both_numbers() -> None:
    findings = findings_of(RULE, {**UPGRADE, "prefill.max_nodes": 3, "decode.max_nodes": 2})
    assert [(finding.subject, finding.message) for finding in findings] == [
        ("prefill.max_nodes", "3 nodes at most, an upgrade by new_cluster needs 4")
    ]


def test_takes_replicas_for_the_most_where_none_is_stated() -> None:
    (finding,) = findings_of(RULE, UPGRADE)
    assert (finding.subject, finding.message) == (
        "decode.max_nodes",
        "1 nodes at most, an upgrade by new_cluster needs 2",
    )
