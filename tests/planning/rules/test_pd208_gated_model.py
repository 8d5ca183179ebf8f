from constructs_pd.planning.rules.pd208_gated_model import RULE
from support.rules import findings_of

GATED = {"model": {"source": "meta-llama/Meta-Llama-3.1-8B"}}


def test_accepts_an_open_model_without_a_token() -> None:
    assert findings_of(RULE, {"hugging_face_token": None}) == []


def test_accepts_a_gated_model_with_a_token() -> None:
    assert findings_of(RULE, GATED) == []


def test_refuses_a_gated_model_without_one() -> None:
    (finding,) = findings_of(RULE, {**GATED, "hugging_face_token": None})
    assert finding.subject == "hugging_face_token"
    assert "Meta-Llama-3.1-8B is gated" in finding.message


def test_accepts_weights_that_are_there_already() -> None:
    offline = {"environment": {"HF_HUB_OFFLINE": "1"}}
    changes = {**GATED, "hugging_face_token": None}
    assert len(findings_of(RULE, changes)) == 1
    assert findings_of(RULE, {**changes, "prefill.pod": offline, "decode.pod": offline}) == []
