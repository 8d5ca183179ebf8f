import pytest

from constructs_pd.planning.rules.pd125_tags import RULE
from support.rules import findings_of


def test_accepts_tags_of_the_users_own() -> None:
    assert findings_of(RULE, {"nodes": {"tags": {"cost-center": "7", "laws:of": "nature", "name": "x"}}}) == []


@pytest.mark.parametrize("key", ["Name", "constructs-pd/deployment"])
def test_refuses_what_this_library_sets(key: str) -> None:
    (finding,) = findings_of(RULE, {"nodes": {"tags": {key: "x"}}})
    assert finding.message == f"{key} is set by this library"


@pytest.mark.parametrize(
    "key", ["aws:cloudformation:stack-name", "AWS:x", "eks:cluster-name", "kubernetes.io/cluster/x"]
)
def test_refuses_what_aws_sets(key: str) -> None:
    (finding,) = findings_of(RULE, {"nodes": {"tags": {key: "x"}}})
    assert finding.message == f"{key} is set by AWS alone"
