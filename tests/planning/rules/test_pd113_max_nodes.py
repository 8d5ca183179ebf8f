import pytest

from constructs_pd.planning.rules.pd113_max_nodes import RULE
from support.rules import findings_of


@pytest.mark.parametrize("most", [None, 3, 4])
def test_accepts_as_many_nodes_as_replicas_or_more(most: int | None) -> None:
    assert findings_of(RULE, {"decode.replicas": 3, "decode.max_nodes": most}) == []


def test_refuses_one_node_too_few_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"decode.replicas": 3, "decode.max_nodes": 2})
    assert (finding.subject, finding.message) == ("decode.max_nodes", "2 nodes at most, 3 replicas need 3")
