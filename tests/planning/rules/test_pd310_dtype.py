from typing import Any

import pytest

from constructs_pd.findings import Finding
from constructs_pd.planning.models.quantization import _ALGORITHMS, _METHODS
from constructs_pd.planning.rules.pd310_dtype import RULE, TYPES_OF_QUANTIZATION
from support.rules import findings_of

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "float16",
    "tie_word_embeddings": False,
}
MXFP8 = {"quant_method": "modelopt", "quant_algo": "MXFP8", "ignore": ["lm_head"]}
FP8 = {**MXFP8, "quant_algo": "FP8"}


def of(source: str, dtype: str) -> list[Finding]:
    return findings_of(RULE, {"model": {"source": source, "dtype": dtype}})


def own(dtype: str, **fields: Any) -> list[Finding]:
    row = {"model": "acme/own", "gated": False, "source": "a test", "date": "2026-11-30", **fields}
    return findings_of(RULE, {"model": {"source": "acme/own", "dtype": dtype}, "custom_models": [row]})


@pytest.mark.parametrize("dtype", ["auto", "bfloat16"])
@pytest.mark.parametrize("source", ["openai/gpt-oss-120b", "google/gemma-2-27b-it", "Qwen/Qwen3-8B", "nobody/nothing"])
def test_accepts_bfloat16_for_all(source: str, dtype: str) -> None:
    assert of(source, dtype) == []


@pytest.mark.parametrize("source", ["Qwen/Qwen3-8B", "Qwen/Qwen3-32B-FP8", "google/gemma-4-26B-A4B", "nobody/nothing"])
def test_accepts_float16_where_vllm_does(source: str) -> None:
    assert of(source, "float16") == []


@pytest.mark.parametrize(
    ("source", "whose"),
    [
        ("openai/gpt-oss-20b", "mxfp4 models"),
        ("openai/gpt-oss-120b", "mxfp4 models"),
        ("google/gemma-2-27b-it", "Gemma2ForCausalLM"),
    ],
)
def test_refuses_float16_where_vllm_does(source: str, whose: str) -> None:
    (finding,) = of(source, "float16")
    assert finding.subject == "model.dtype"
    assert finding.message == f"float16, and vLLM runs {whose} in bfloat16 alone"
    assert finding.remedy == "state bfloat16"


@pytest.mark.parametrize("architecture", ["Gemma3ForConditionalGeneration", "Gemma3ForCausalLM", "Glm4ForCausalLM"])
def test_an_architecture_alone_is_enough(architecture: str) -> None:
    facts = {"attention": "full", "attention_heads": 32, "kv_heads": 8, "max_position_embeddings": 8192}
    assert len(own("float16", architecture=architecture, **facts)) == 1
    assert own("auto", architecture=architecture, **facts) == []


def test_the_checkpoints_own_type_counts_where_none_is_stated() -> None:
    (finding,) = own("auto", config={**CONFIG, "quantization_config": MXFP8})
    assert finding.message == "float16 of its config.json, and vLLM runs MXFP8 models in bfloat16 alone"
    assert own("bfloat16", config={**CONFIG, "quantization_config": MXFP8}) == []
    assert own("auto", config={**CONFIG, "quantization_config": FP8}) == []


def test_every_quantization_that_is_read_has_its_types() -> None:
    by_algorithm = {name for name in _METHODS if name.startswith("modelopt")}
    assert set(TYPES_OF_QUANTIZATION) == {*_METHODS, *_ALGORITHMS, "MIXED_PRECISION"} - by_algorithm
