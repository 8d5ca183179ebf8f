import pytest

from constructs_pd.planning.rules.pd304_unknown_backend import RULE
from support.rules import findings_of

SPARSE = "deepseek-ai/DeepSeek-V3.2"


def pair(source: str, prefill: str, decode: str) -> dict[str, object]:
    return {"model": {"source": source}, "prefill.instance_type": prefill, "decode.instance_type": decode}


@pytest.mark.parametrize(
    ("source", "prefill", "decode"),
    [
        (SPARSE, "p5.48xlarge", "p5en.48xlarge"),
        ("deepseek-ai/DeepSeek-R1", "p5.48xlarge", "p6-b200.48xlarge"),
        ("Qwen/Qwen3-8B", "g6.8xlarge", "p5.48xlarge"),
        ("nobody/nothing", "p5.48xlarge", "p6-b200.48xlarge"),
        (SPARSE, "p5.48xlarge", "x"),
    ],
)
def test_accepts_equal_gpus_and_models_whose_backend_is_known(source: str, prefill: str, decode: str) -> None:
    assert findings_of(RULE, pair(source, prefill, decode)) == []


def test_warns_of_sparse_attention_on_gpus_of_two_generations() -> None:
    (finding,) = findings_of(RULE, pair(SPARSE, "p5.48xlarge", "p6-b200.48xlarge"))
    assert finding.subject == "prefill.instance_type"
    assert "capability 9.0 and 10.0" in finding.message


def test_warns_of_heads_that_few_backends_take() -> None:
    (finding,) = findings_of(RULE, pair("google/gemma-4-26B-A4B", "g6e.48xlarge", "p5.48xlarge"))
    assert "Gemma4ForConditionalGeneration" in finding.message


@pytest.mark.parametrize(("source", "found"), [("XiaomiMiMo/MiMo-V2-Flash", 1), ("Qwen/Qwen3.5-9B", 0)])
def test_warns_of_value_heads_of_another_size_than_key_heads(source: str, found: int) -> None:
    assert len(findings_of(RULE, pair(source, "g6e.48xlarge", "p5.48xlarge"))) == found


def test_a_backend_that_is_stated_is_known() -> None:
    stated = {"attention_backend": "FLASHMLA_SPARSE"}
    both = {"prefill.engine_args": stated, "decode.engine_args": stated}
    assert findings_of(RULE, {**pair(SPARSE, "p5.48xlarge", "p6-b200.48xlarge"), **both}) == []
