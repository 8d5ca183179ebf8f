from constructs_pd.planning.rules.pd205_model import RULE
from support.rules import findings_of


def test_accepts_models_of_the_catalogue() -> None:
    assert findings_of(RULE) == []


def test_refuses_an_unknown_model() -> None:
    (finding,) = findings_of(RULE, {"model.source": "Qwen/Qwen3-9B"})
    assert finding.subject == "model.source"
    assert "perhaps Qwen/Qwen3" in finding.remedy
    assert "custom_models" in finding.remedy


def test_accepts_a_model_whose_facts_the_user_gives() -> None:
    row = {
        "model": "acme/own-7b",
        "architecture": "LlamaForCausalLM",
        "attention": "full",
        "kv_heads": 8,
        "max_position_embeddings": 8192,
        "gated": False,
        "source": "its config.json",
        "date": "2026-11-29",
    }
    assert findings_of(RULE, {"model.source": "acme/own-7b", "custom_models": [row]}) == []
