import pytest

from constructs_pd.planning.rules.pd207_context import RULE
from support.rules import findings_of


@pytest.mark.parametrize("tokens", [None, 1, 262144])
def test_accepts_up_to_what_the_model_was_trained_for(tokens: int | None) -> None:
    assert findings_of(RULE, {"model.max_model_len": tokens}) == []


def test_refuses_one_token_more_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"model.max_model_len": 262145})
    assert finding.message == "262,145 tokens, Qwen/Qwen3.5-9B was trained for 262,144"


def test_leaves_an_unknown_model_to_its_own_rule() -> None:
    assert findings_of(RULE, {"model.source": "a/b", "model.max_model_len": 10**9}) == []


def test_leaves_a_stretched_context_to_vllm() -> None:
    stretched = {"hf_overrides": {"rope_parameters": {"rope_type": "yarn", "factor": 4.0}}}
    changes = {"model.max_model_len": 1_000_000, "prefill.engine_args": stretched, "decode.engine_args": stretched}
    assert findings_of(RULE, changes) == []
