import pytest

from constructs_pd.planning.rules.pd224_shortened_context import RULE
from support.rules import findings_of


def test_says_how_much_of_the_models_context_is_served() -> None:
    (finding,) = findings_of(RULE, {"model.max_model_len": None})
    assert finding.subject == "model.max_model_len"
    assert finding.message == "32,736 tokens of the model's 262,144 are served, as many as both phases have room for"
    assert finding.remedy == "state 32736 if that is enough, or choose GPUs with more memory"


def test_what_it_says_to_state_is_what_was_served() -> None:
    assert findings_of(RULE, {"model.max_model_len": 32736}) == []


@pytest.mark.parametrize("model", ["Qwen/Qwen3-0.6B", "a/b"])
def test_accepts_a_model_with_room_and_one_that_nobody_knows(model: str) -> None:
    assert findings_of(RULE, {"model": {"source": model}}) == []


def test_leaves_what_does_not_fit_at_all_to_its_own_rule() -> None:
    assert findings_of(RULE, {"model": {"source": "Qwen/Qwen3-32B"}}) == []
