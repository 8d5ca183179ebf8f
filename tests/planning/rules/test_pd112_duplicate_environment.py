from constructs_pd.planning.rules.pd112_duplicate_environment import RULE
from support.rules import findings_of


def test_accepts_different_names() -> None:
    pod = {"environment": {"A": "1"}, "secret_environment": {"B": {"secret_name": "s"}}}
    assert findings_of(RULE, {"decode.pod": pod}) == []


def test_refuses_the_same_name_in_both() -> None:
    pod = {"environment": {"A": "1"}, "secret_environment": {"A": {"secret_name": "s"}}}
    (finding,) = findings_of(RULE, {"decode.pod": pod})
    assert (finding.subject, finding.message) == (
        "decode.pod.secret_environment.A",
        "given 2 times: also in environment",
    )


def test_accepts_the_same_name_in_different_pods() -> None:
    changes = {
        "head.pod": {"environment": {"A": "1"}},
        "decode.pod": {"secret_environment": {"A": {"secret_name": "s"}}},
    }
    assert findings_of(RULE, changes) == []
