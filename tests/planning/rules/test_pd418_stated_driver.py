from constructs_pd.planning.rules.pd418_stated_driver import RULE
from support.rules import findings_of
from support.specs import AMI_ID


def test_accepts_a_driver_of_an_ami_of_ones_own_and_none() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"decode.ami_id": AMI_ID}) == []
    assert findings_of(RULE, {"decode.ami_id": AMI_ID, "decode.ami_driver_branch": 595}) == []


def test_refuses_a_driver_without_an_ami() -> None:
    (finding,) = findings_of(RULE, {"prefill.ami_driver_branch": 595})
    assert finding.subject == "prefill.ami_driver_branch"
    assert finding.message.startswith("595 without ami_id")
