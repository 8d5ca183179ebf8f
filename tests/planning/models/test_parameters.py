"""Parameter totals against published counts."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import model_facts
from support.model_configs import GRANITE, STEP
from support.published_models import published_config

# Hugging Face's model API, safetensors.total: the numbers that a checkpoint holds, as public files record it.
HUGGING_FACE = {
    "Qwen/Qwen3-8B": 8_190_735_360,
    "Qwen/Qwen3-32B": 32_762_123_264,
    "Qwen/Qwen3-30B-A3B": 30_532_122_624,
    "Qwen/Qwen3-235B-A22B": 235_093_634_560,
    "Qwen/Qwen3-Coder-480B-A35B-Instruct": 480_154_875_392,
    "meta-llama/Meta-Llama-3.1-8B": 8_030_261_248,
    "meta-llama/Meta-Llama-3.1-70B": 70_553_706_496,
    "meta-llama/Meta-Llama-3.1-405B": 405_853_388_800,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": 108_641_793_536,
    "mistralai/Mixtral-8x7B-v0.1": 46_702_792_704,
    "mistralai/Mixtral-8x22B-v0.1": 140_620_634_112,
    "openai/gpt-oss-20b": 20_914_757_184,
    "openai/gpt-oss-120b": 116_829_156_672,
    "moonshotai/Kimi-K2-Instruct": 1_026_408_235_864,
    "MiniMaxAI/MiniMax-M2.5": 228_703_644_928,
    "google/gemma-4-26B-A4B": 25_805_936_206,
    "google/gemma-2-27b-it": 27_227_128_320,
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": 31_577_937_344,
}
# Counts from elsewhere, or of which a part is not loaded: heads that predict more tokens than one.
ELSEWHERE = {
    "deepseek-ai/DeepSeek-V3": (671e9, "its model card: 671B of the main model, 14B of the prediction head"),
    "deepseek-ai/DeepSeek-R1": (671e9, "its model card"),
    "Qwen/Qwen3.5-9B": (19_306_216_416 / 2 - 0.243e9, "its safetensors index, less a layer of prediction"),
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8": (
        123_611_012_096 - 2_942_324_736,
        "the safetensors headers of its bfloat16 twin: all, less the prediction head",
    ),
    "zai-org/GLM-5-FP8": (744e9, "its model card"),
    "XiaomiMiMo/MiMo-V2-Flash": (309e9, "its model card"),
    "nvidia/Nemotron-H-56B-Base-8K": (56e9, "its model card"),
}
# Of models that are not in the catalogue.
OUTSIDE: dict[str, tuple[dict[str, Any] | str, float]] = {
    "Qwen/Qwen3-VL-2B-Instruct": ("Qwen/Qwen3-VL-2B-Instruct", 2_127_532_032),
    "nvidia/Gemma-4-31B-IT-NVFP4": ("nvidia/Gemma-4-31B-IT-NVFP4", 31_273_088_876),
    "ibm-granite/granite-4.0-h-small": (GRANITE, 32_207_337_984),
    "stepfun-ai/Step-3.5-Flash, of 196B as its card says": (STEP, 196e9),
    "Qwen/Qwen3-Coder-Next": (
        {
            "architectures": ["Qwen3NextForCausalLM"],
            "full_attention_interval": 4,
            "head_dim": 256,
            "hidden_size": 2048,
            "linear_conv_kernel_dim": 4,
            "linear_key_head_dim": 128,
            "linear_num_key_heads": 16,
            "linear_num_value_heads": 32,
            "linear_value_head_dim": 128,
            "max_position_embeddings": 262144,
            "moe_intermediate_size": 512,
            "num_attention_heads": 16,
            "num_experts": 512,
            "num_experts_per_tok": 10,
            "num_hidden_layers": 48,
            "num_key_value_heads": 2,
            "shared_expert_intermediate_size": 512,
            "tie_word_embeddings": False,
            "vocab_size": 151936,
        },
        79_674_391_296,
    ),
    # huggingface.co/unsloth/Mistral-Small-24B-Instruct-2501-GGUF, config.json; Hugging Face's model API.
    "mistralai/Mistral-Small-24B-Instruct-2501": (
        {
            "architectures": ["MistralForCausalLM"],
            "head_dim": 128,
            "hidden_size": 5120,
            "intermediate_size": 32768,
            "max_position_embeddings": 32768,
            "num_attention_heads": 32,
            "num_hidden_layers": 40,
            "num_key_value_heads": 8,
            "sliding_window": None,
            "tie_word_embeddings": False,
            "vocab_size": 131072,
        },
        23_572_403_200,
    ),
    # github.com/citsjtu2020/LLM-Prof, sglang/Model_Config.md; Hugging Face's model API.
    "Qwen/Qwen2.5-7B": (
        {
            "architectures": ["Qwen2ForCausalLM"],
            "hidden_size": 3584,
            "intermediate_size": 18944,
            "max_position_embeddings": 131072,
            "num_attention_heads": 28,
            "num_hidden_layers": 28,
            "num_key_value_heads": 4,
            "sliding_window": 131072,
            "tie_word_embeddings": False,
            "use_sliding_window": False,
            "vocab_size": 152064,
        },
        7_615_616_512,
    ),
    # huggingface.co/MaziyarPanahi/calme-2.3-phi3-4b, config.json; Hugging Face's model API.
    "microsoft/Phi-3-mini-4k-instruct": (
        {
            "architectures": ["Phi3ForCausalLM"],
            "hidden_size": 3072,
            "intermediate_size": 8192,
            "max_position_embeddings": 4096,
            "num_attention_heads": 32,
            "num_hidden_layers": 32,
            "num_key_value_heads": 32,
            "sliding_window": 2047,
            "tie_word_embeddings": False,
            "vocab_size": 32064,
        },
        3_821_079_552,
    ),
    # huggingface.co/PrimeIntellect/INTELLECT-3-Base, config.json; Hugging Face's model API.
    "PrimeIntellect/INTELLECT-3": (
        {
            "architectures": ["Glm4MoeForCausalLM"],
            "attention_bias": True,
            "first_k_dense_replace": 1,
            "head_dim": 128,
            "hidden_size": 4096,
            "intermediate_size": 10944,
            "max_position_embeddings": 131072,
            "moe_intermediate_size": 1408,
            "n_routed_experts": 128,
            "num_experts_per_tok": 8,
            "n_shared_experts": 1,
            "num_attention_heads": 96,
            "num_hidden_layers": 46,
            "num_key_value_heads": 8,
            "use_qk_norm": False,
            "vocab_size": 151552,
        },
        106_852_251_264,
    ),
}


@pytest.mark.parametrize(("model", "published"), HUGGING_FACE.items())
def test_a_checkpoints_count_is_met_within_a_thousandth(model: str, published: int) -> None:
    facts = load_catalog().models[model].facts
    assert facts is not None
    assert facts.parameters == pytest.approx(published, rel=0.001)


@pytest.mark.parametrize(("model", "published"), [(model, count) for model, (count, _) in ELSEWHERE.items()])
def test_other_counts_are_met_within_a_hundredth(model: str, published: float) -> None:
    facts = load_catalog().models[model].facts
    assert facts is not None
    assert facts.parameters == pytest.approx(published, rel=0.01)


@pytest.mark.parametrize(("config", "published"), OUTSIDE.values(), ids=OUTSIDE)
def test_counts_of_models_outside_the_catalogue_are_met(config: dict[str, Any] | str, published: float) -> None:
    facts = model_facts(published_config(config) if isinstance(config, str) else config)
    assert facts.parameters == pytest.approx(published, rel=0.01)


def test_many_counts_are_met_to_the_last_parameter() -> None:
    models = load_catalog().models
    exact = {name for name, count in HUGGING_FACE.items() if (f := models[name].facts) and f.parameters == count}
    assert len(exact) >= 12, sorted(exact)


def test_no_row_of_the_catalogue_stays_uncounted() -> None:
    assert len(load_catalog().models) >= 28
    assert all(row.facts is not None and row.facts.parameters > 0 for row in load_catalog().models.values())
