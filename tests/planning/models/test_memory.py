"""Weights, KV cache and states on a GPU, against what vLLM's logs and papers report."""

from __future__ import annotations

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import (
    ModelConfigError,
    ModelFacts,
    WindowedKv,
    kv_bytes_per_token_per_gpu,
    model_facts,
    state_bytes_per_request_per_gpu,
    weight_bytes_per_gpu,
    windowed_kv_per_gpu,
)
from support.model_configs import DEEPSEEK, LLAMA, NEMOTRON, QWEN_HYBRID, with_fields
from support.published_models import published_config

GIB = 1024**3


def facts_of(model: str) -> ModelFacts:
    row = load_catalog().models.get(model)
    facts = row.facts if row is not None else model_facts(published_config(model))
    assert facts is not None
    return facts


# "Model loading took X GiB" in a log of vLLM, with the release and the place; stated errors are in the last column.
LOADED = [
    ("Qwen/Qwen3-8B", 1, "8.9", 15.2683, "two public logs, one of an L40S", 0.002),
    ("Qwen/Qwen3-30B-A3B", 1, "8.0", 56.9342, "a public log of Qwen3-Coder-30B-A3B, of the same shape", 0.002),
    ("Qwen/Qwen3-30B-A3B", 4, "8.6", 14.2474, "0.8.5, vllm-project/vllm#17469", 0.002),
    ("meta-llama/Meta-Llama-3.1-8B", 1, "9.0", 14.9889, "public logs of its instruction-tuned sibling", 0.003),
    ("Qwen/Qwen3.5-9B", 1, "9.0", 17.66, "0.19, two public logs", 0.01),
    ("openai/gpt-oss-120b", 1, "9.0", 64.38, "0.14.1 with Triton kernels, vllm-project/vllm#33155", 0.005),
    ("openai/gpt-oss-120b", 1, "8.9", 65.9651, "0.10 with Marlin kernels, vllm-project/vllm#23278", 0.005),
    ("openai/gpt-oss-20b", 1, "8.0", 13.72, "0.19 on an A100, myoceane.fr/index.php/ai-vllm-a100-gemma-4", 0.005),
    ("google/gemma-4-26B-A4B", 1, "8.0", 48.5, "0.19 on an A100, the same page", 0.01),
    ("nvidia/Gemma-4-31B-IT-NVFP4", 1, "12.1", 31.04, "a public log; robotmunki.com has 31.18", 0.02),
]


@pytest.mark.parametrize(("model", "gpus", "capability", "gib", "_source", "error"), LOADED)
def test_weights_are_what_vllm_says_it_loaded(
    model: str, gpus: int, capability: str, gib: float, _source: str, error: float
) -> None:
    derived = weight_bytes_per_gpu(facts_of(model), gpus, compute_capability=capability) / GIB
    assert derived == pytest.approx(gib, rel=error)


# Sizes of checkpoints: gpt-oss's model card, table 1; safetensors indexes.
CHECKPOINTS = [
    ("openai/gpt-oss-120b", 60.8 * GIB, 0.002),
    ("openai/gpt-oss-20b", 12.8 * GIB, 0.002),
    ("Qwen/Qwen3-235B-A22B", 470_187_269_120, 1e-4),
]


@pytest.mark.parametrize(("model", "size", "error"), CHECKPOINTS)
def test_weights_without_a_gpu_are_the_checkpoint(model: str, size: float, error: float) -> None:
    assert weight_bytes_per_gpu(facts_of(model)) == pytest.approx(size, rel=error)


# "Insights into DeepSeek-V3", ISCA 2025, table 1, of bfloat16: in decimal kilobytes. Others: from public logs.
KV_BYTES = [
    ("deepseek-ai/DeepSeek-V3", 70_272),
    ("meta-llama/Meta-Llama-3.1-405B", 516_096),
    ("Qwen/Qwen3-8B", 147_456),
    ("Qwen/Qwen3-32B", 262_144),
    # llama.cpp: 9,216 MiB for two sequences of 131,072 tokens in 18 layers (ollama/ollama#16480).
    ("openai/gpt-oss-120b", 9216 * 1024**2 // (2 * 131_072)),
]


@pytest.mark.parametrize(("model", "size"), KV_BYTES)
def test_a_token_takes_the_published_bytes(model: str, size: int) -> None:
    assert kv_bytes_per_token_per_gpu(facts_of(model), kv_cache_dtype="bfloat16") == size


def test_a_latent_vector_is_576_values_in_each_layer_and_whole_on_every_gpu() -> None:
    facts = facts_of("deepseek-ai/DeepSeek-R1")
    assert kv_bytes_per_token_per_gpu(facts, 1) == kv_bytes_per_token_per_gpu(facts, 16) == 61 * 576 * 2
    assert kv_bytes_per_token_per_gpu(facts, 16, "fp8") == 61 * 576


def test_a_sparse_model_keeps_its_indexers_keys_too() -> None:
    facts = facts_of("deepseek-ai/DeepSeek-V3.2")
    # 128 bytes in fp8 and a scale of 4; in fp8 the main cache has vLLM's 656 bytes.
    assert kv_bytes_per_token_per_gpu(facts) == 61 * (576 * 2 + 132)
    assert kv_bytes_per_token_per_gpu(facts, kv_cache_dtype="fp8") == 61 * (656 + 132)


def test_layers_that_use_an_indexer_before_them_keep_no_keys() -> None:
    caches = facts_of("zai-org/GLM-5.3-FP8").caches
    assert [(group.kind, group.layers) for group in caches] == [("mla", 78), ("indexer", 21)]


def test_sliding_and_chunked_layers_are_told_apart_from_those_that_keep_everything() -> None:
    assert windowed_kv_per_gpu(facts_of("openai/gpt-oss-20b"), 2) == (WindowedKv("sliding", 128, 12 * 4 * 128 * 2),)
    scout = facts_of("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    assert windowed_kv_per_gpu(scout) == (WindowedKv("chunked", 8192, 36 * 8 * 256 * 2),)
    assert kv_bytes_per_token_per_gpu(scout) == 12 * 8 * 256 * 2


def test_key_and_value_heads_may_differ_in_width_and_number() -> None:
    facts = facts_of("XiaomiMiMo/MiMo-V2-Flash")
    assert kv_bytes_per_token_per_gpu(facts) == 9 * 4 * (192 + 128) * 2
    assert windowed_kv_per_gpu(facts) == (WindowedKv("sliding", 128, 39 * 8 * (192 + 128) * 2),)


def test_key_value_heads_are_repeated_where_gpus_outnumber_them() -> None:
    facts = model_facts(LLAMA)
    assert [kv_bytes_per_token_per_gpu(facts, gpus) for gpus in (1, 2, 4, 8)] == [4 * 2 * 16 * 2, 128, 128, 128]


# vLLM raises the attention block until its page holds a state, and logs both: "Setting attention block size to N
# tokens", "Padding mamba page size by P%". So a layer's token takes (1 + P) / N of a layer's state.
PAGES = [
    ("Qwen/Qwen3.5-9B", "auto", 528, 0.76),
    ("Qwen/Qwen3.5-27B", "auto", 784, 0.13),
    ("Qwen/Qwen3.5-27B", "fp8", 1568, 0.13),
    ("Qwen/Qwen3.5-35B-A3B", "auto", 1056, 0.76),
    ("Qwen/Qwen3.5-35B-A3B", "fp8", 2096, 0.0),
]


@pytest.mark.parametrize(("model", "dtype", "block_tokens", "padding_percent"), PAGES)
def test_states_are_as_large_as_vllm_says(model: str, dtype: str, block_tokens: int, padding_percent: float) -> None:
    facts = facts_of(model)
    attention_layers = sum(group.layers for group in facts.caches)
    state_layers = sum(group.layers for group in facts.states)
    page = block_tokens * kv_bytes_per_token_per_gpu(facts, kv_cache_dtype=dtype) / attention_layers
    state = state_bytes_per_request_per_gpu(facts) / state_layers
    assert 100 * (page / state - 1) == pytest.approx(padding_percent, abs=0.01)


def test_a_state_is_its_convolution_and_its_recurrent_part() -> None:
    hybrid = model_facts(QWEN_HYBRID)
    # Three layers: 3 remembered tokens of 2*2*8 + 4*8 channels, and 4 heads of 8 x 8, all in bfloat16.
    assert state_bytes_per_request_per_gpu(hybrid) == 3 * (3 * 64 + 4 * 64) * 2
    assert state_bytes_per_request_per_gpu(hybrid, 2) == 3 * (3 * 32 + 2 * 64) * 2


def test_mambas_recurrent_state_is_float32_unless_the_file_says_otherwise() -> None:
    channels = 128 + 2 * 2 * 16
    assert state_bytes_per_request_per_gpu(model_facts(NEMOTRON)) == 3 * channels * 2 + 16 * 8 * 16 * 4
    small = model_facts(with_fields(NEMOTRON, mamba_ssm_cache_dtype="bfloat16"))
    assert state_bytes_per_request_per_gpu(small) == 3 * channels * 2 + 16 * 8 * 16 * 2


def test_mambas_groups_are_repeated_where_gpus_outnumber_them() -> None:
    # Eight GPUs, two groups: each GPU keeps one group beside its share of the heads.
    assert state_bytes_per_request_per_gpu(model_facts(NEMOTRON), 8) == 3 * (16 + 2 * 16) * 2 + 2 * 8 * 16 * 4


def test_the_checkpoint_chooses_the_kv_caches_type_where_nobody_does() -> None:
    facts = facts_of("nvidia/Llama-3.1-70B-Instruct-FP8")
    assert facts.kv_cache_dtype == "fp8"
    assert kv_bytes_per_token_per_gpu(facts) * 2 == kv_bytes_per_token_per_gpu(facts, kv_cache_dtype="bfloat16")


def test_a_converted_kv_projection_has_a_plain_copy() -> None:
    plain = weight_bytes_per_gpu(model_facts(DEEPSEEK))
    config = with_fields(DEEPSEEK, quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
    facts = model_facts(config)
    copies = [group for group in facts.weights if not group.counted]
    assert [(group.component, group.count, group.format) for group in copies] == [
        ("self_attn.kv_b_proj in plain numbers", 4, None)
    ]
    assert facts.parameters == model_facts(DEEPSEEK).parameters
    assert weight_bytes_per_gpu(facts) < plain


def test_vocabularies_are_padded_and_split() -> None:
    small = model_facts(with_fields(LLAMA, vocab_size=1000))
    assert weight_bytes_per_gpu(small) == weight_bytes_per_gpu(model_facts(LLAMA))


def test_the_stated_type_decides_what_is_not_converted() -> None:
    facts = model_facts(LLAMA)
    assert weight_bytes_per_gpu(facts, dtype="float16") == weight_bytes_per_gpu(facts) == 2 * facts.parameters


def test_mxfp4_experts_are_rounded_up_as_the_gpus_kernels_do() -> None:
    facts = facts_of("openai/gpt-oss-20b")
    by_gpu = {gpu: weight_bytes_per_gpu(facts, compute_capability=gpu) for gpu in ("8.9", "9.0", "10.0")}
    assert weight_bytes_per_gpu(facts) < by_gpu["9.0"] < by_gpu["8.9"] < by_gpu["10.0"]


@pytest.mark.parametrize("gpus", [0, -1, 10**9])
def test_no_number_of_gpus_that_makes_no_sense_is_taken(gpus: int) -> None:
    with pytest.raises(ModelConfigError, match="tensor_parallel"):
        weight_bytes_per_gpu(model_facts(LLAMA), gpus)


def test_an_unknown_cache_type_is_refused() -> None:
    with pytest.raises(ModelConfigError, match="kv_cache_dtype"):
        kv_bytes_per_token_per_gpu(model_facts(LLAMA), 1, "int3")
