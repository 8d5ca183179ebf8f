from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd233_same_instance_type import RULE
from support.rules import findings_of


def test_accepts_one_instance_type() -> None:
    assert findings_of(RULE) == []


def test_warns_of_two_with_both_names() -> None:
    (finding,) = findings_of(RULE, {"decode.instance_type": "g6e.8xlarge"})
    assert finding.severity is Severity.WARNING
    assert finding.subject == "decode.instance_type"
    assert finding.message == "prefill stands on g6.8xlarge, decode on g6e.8xlarge"


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {"decode.instance_type": "g6.9xlarge"}) == []
