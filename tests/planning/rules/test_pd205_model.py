from constructs_pd.planning.rules.pd205_model import RULE
from support.rules import findings_of
from support.specs import MODEL_ROW


def test_accepts_models_of_the_catalogue() -> None:
    assert findings_of(RULE) == []


def test_refuses_an_unknown_model() -> None:
    (finding,) = findings_of(RULE, {"model.source": "Qwen/Qwen3-9B"})
    assert finding.subject == "model.source"
    assert "perhaps Qwen/Qwen3" in finding.remedy
    assert "custom_models" in finding.remedy


def test_accepts_a_model_whose_facts_the_user_gives() -> None:
    assert findings_of(RULE, {"model.source": "acme/own-7b", "custom_models": [MODEL_ROW]}) == []
