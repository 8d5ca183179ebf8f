"""Every config.json that aiconfigurator-core carries is derived with sound results, or refused by name and reason."""

from __future__ import annotations

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import (
    ModelConfigError,
    kv_bytes_per_token_per_gpu,
    model_facts,
    model_outline,
    state_bytes_per_request_per_gpu,
    weight_bytes_per_gpu,
    windowed_kv_per_gpu,
)
from support.published_models import published_config, published_models

PUBLISHED = published_models()
_V4 = "compressed caches"
_ABSENT = "vLLM 0.26.0 has no model of this name"
# The copies of Llama 4 lack the vision tower that vLLM loads.
_CUT = "vision_config: missing"
REFUSED = {
    "MiniMaxAI/MiniMax-M3": _ABSENT,
    "deepseek-ai/DeepSeek-V4-Flash": _V4,
    "deepseek-ai/DeepSeek-V4-Pro": _V4,
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": _CUT,
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": _CUT,
    "moonshotai/Kimi-K3": _ABSENT,
    "nvidia/DeepSeek-V4-Flash-NVFP4": _V4,
    "nvidia/DeepSeek-V4-Pro-NVFP4": _V4,
    "sgl-project/DeepSeek-V4-Flash-FP8": _V4,
    "sgl-project/DeepSeek-V4-Pro-FP8": _V4,
    "stepfun-ai/Step-3.7-Flash": _ABSENT,
    "stepfun-ai/Step-3.7-Flash-FP8": _ABSENT,
}
DERIVED = [model for model in PUBLISHED if model not in REFUSED]


def test_there_are_files_enough_to_mean_something() -> None:
    assert len(PUBLISHED) == 89
    assert set(REFUSED) <= set(PUBLISHED)


@pytest.mark.parametrize("model", REFUSED)
def test_what_is_refused_says_why_and_what_to_do(model: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        model_facts(published_config(model))
    assert REFUSED[model] in str(caught.value)
    assert caught.value.remedy


@pytest.mark.parametrize("model", DERIVED)
def test_every_other_file_gives_sound_sizes(model: str) -> None:
    config = published_config(model)
    facts = model_facts(config)
    assert facts.outline == model_outline(config)
    assert 5e8 < facts.parameters < 1.1e12
    bits = 8 * weight_bytes_per_gpu(facts) / facts.parameters
    assert 4 < bits < 17
    assert facts.outline.attention_heads % facts.outline.kv_heads == 0
    assert bool(facts.states) == (facts.outline.attention == "hybrid") == bool(state_bytes_per_request_per_gpu(facts))
    assert 1024 <= kv_bytes_per_token_per_gpu(facts) <= 600_000


@pytest.mark.parametrize("model", DERIVED)
def test_more_gpus_take_less_each_and_more_together(model: str) -> None:
    facts = model_facts(published_config(model))
    sizes = [2**power for power in range(5)]
    for size in (weight_bytes_per_gpu, kv_bytes_per_token_per_gpu, state_bytes_per_request_per_gpu):
        each = [size(facts, gpus) for gpus in sizes]
        assert each == sorted(each, reverse=True)
        together = [gpus * part for gpus, part in zip(sizes, each, strict=True)]
        assert together == sorted(together)
    for one, eight in zip(windowed_kv_per_gpu(facts), windowed_kv_per_gpu(facts, 8), strict=True):
        assert eight.bytes_per_token <= one.bytes_per_token <= 8 * eight.bytes_per_token


@pytest.mark.parametrize("model", sorted(set(load_catalog().models) & set(DERIVED)))
def test_the_catalogues_shortened_configurations_say_what_the_files_say(model: str) -> None:
    assert load_catalog().models[model].facts == model_facts(published_config(model))


def test_the_names_of_numbers_that_the_files_use_are_all_known() -> None:
    named = {model_facts(published_config(model)).quantization for model in DERIVED}
    assert named == {None, "fp8", "mxfp4", "compressed-tensors", "FP8", "NVFP4", "MIXED_PRECISION"}
