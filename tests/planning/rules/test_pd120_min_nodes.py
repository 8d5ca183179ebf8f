import pytest

from constructs_pd.planning.rules.pd120_min_nodes import RULE
from support.rules import findings_of


@pytest.mark.parametrize("fewest", [None, 0, 3])
def test_accepts_as_many_nodes_as_replicas_or_fewer(fewest: int | None) -> None:
    assert findings_of(RULE, {"decode.replicas": 3, "decode.min_nodes": fewest}) == []


def test_refuses_one_node_too_many_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"decode.replicas": 3, "decode.max_nodes": 9, "decode.min_nodes": 4})
    assert (finding.subject, finding.message) == ("decode.min_nodes", "4 nodes at least, 3 replicas need 3")
