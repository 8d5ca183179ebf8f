import pytest

from constructs_pd.planning.rules.pd125_tags import RULE
from support.rules import findings_of


def test_accepts_tags_of_the_users_own() -> None:
    assert findings_of(RULE, {"nodes": {"tags": {"cost-center": "7", "laws:of": "nature", "names": "x"}}}) == []


def test_refuses_keys_that_iam_cannot_tell_apart() -> None:
    (finding,) = findings_of(RULE, {"nodes": {"tags": {"team": "a", "Team": "b"}}})
    assert (finding.subject, finding.message) == ("nodes.tags.Team", "Team and team differ by their case only")


@pytest.mark.parametrize("key", ["Name", "name", "constructs-pd/deployment", "CONSTRUCTS-PD/deployment"])
def test_refuses_what_this_library_sets(key: str) -> None:
    (finding,) = findings_of(RULE, {"nodes": {"tags": {key: "x"}}})
    assert finding.message == f"{key} is set by this library"


@pytest.mark.parametrize(
    "key", ["aws:cloudformation:stack-name", "AWS:x", "eks:cluster-name", "kubernetes.io/cluster/x"]
)
def test_refuses_what_aws_sets(key: str) -> None:
    (finding,) = findings_of(RULE, {"nodes": {"tags": {key: "x"}}})
    assert finding.message == f"{key} is for AWS and EKS to set"
