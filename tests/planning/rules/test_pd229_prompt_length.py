from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd229_prompt_length import RULE
from support.rules import findings_of


def traffic(tokens: int) -> dict[str, object]:
    return {"traffic": {"requests_per_second": 1.0, "prompt_tokens": tokens}}


def test_accepts_no_traffic_and_prompts_that_leave_room() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, traffic(1023)) == []


def test_refuses_prompts_that_leave_none() -> None:
    (finding,) = findings_of(RULE, traffic(1024))
    assert finding.severity is Severity.ERROR
    assert finding.subject == "traffic.prompt_tokens"
    assert finding.message == "prompts of 1,024 tokens on average leave no room in a context of 1,024"
    assert finding.remedy == "state at most 1,023, or raise model.max_model_len"


def test_leaves_an_unknown_model_to_its_own_rule() -> None:
    assert findings_of(RULE, {**traffic(10**6), "model.source": "nobody/nothing"}) == []
