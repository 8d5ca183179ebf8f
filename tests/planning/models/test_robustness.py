"""Whatever stands in a config.json: a sound result or one typed error, never a traceback, NaN or a negative size."""

from __future__ import annotations

import math
from copy import deepcopy
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from constructs_pd.planning.models import (
    ModelConfigError,
    ModelFacts,
    kv_bytes_per_token_per_gpu,
    model_facts,
    model_outline,
    state_bytes_per_request_per_gpu,
    weight_bytes_per_gpu,
    windowed_kv_per_gpu,
)
from constructs_pd.planning.models.families import ARCHITECTURES
from support.model_configs import DEEPSEEK, GEMMA3, GRANITE, LLAMA, NEMOTRON, QWEN_HYBRID, STEP
from support.published_models import published_config, published_models

SMALL = [LLAMA, QWEN_HYBRID, NEMOTRON, GRANITE, DEEPSEEK, GEMMA3, STEP]
WRAPPED = [
    published_config(model)
    for model in published_models()
    if model.startswith(("Qwen/Qwen3.5-27B", "google/", "moonshotai/Kimi-K2.5", "nvidia/Qwen3.6-27B", "XiaomiMiMo/"))
]
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.sampled_from([0, -1, 1, 2, 3, 10**6, 10**9, 10**400])
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["full_attention", "mamba", "M*-E", "re:(", "float32", "fp8", "modelopt", "NVFP4"]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=6,
)
NAMES = sorted({name for config in SMALL for name in config} | {"quantization_config", "text_config", "vision_config"})


def places(config: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return every field of a configuration and of the mappings in it."""
    inner = [
        (name, *rest) for name, value in config.items() if isinstance(value, dict) for rest in places(value) if rest
    ]
    return [(name,) for name in config] + inner


@st.composite
def damaged(draw: st.DrawFn) -> dict[str, Any]:
    """Return a configuration with a few fields changed, added or left out, perhaps under another architecture."""
    config: dict[str, Any] = deepcopy(draw(st.sampled_from(SMALL + WRAPPED)))
    for _ in range(draw(st.integers(0, 3))):
        *parents, last = draw(st.sampled_from(places(config)))
        target = config
        for parent in parents:
            target = target[parent]
        if draw(st.booleans()):
            target[last] = draw(JSON)
        else:
            del target[last]
    if draw(st.booleans()):
        config[draw(st.sampled_from(NAMES))] = draw(JSON)
    if draw(st.booleans()):
        config["architectures"] = [draw(st.sampled_from(sorted(ARCHITECTURES)))]
    return config


def sound_or_refused(config: Any) -> ModelFacts | None:
    """Return a model's facts, or none where it is refused as it should be."""
    refusal: ModelConfigError | None = None
    try:
        return model_facts(config)
    except ModelConfigError as error:
        refusal = error
    assert refusal.field
    assert refusal.found
    assert refusal.remedy
    assert len(str(refusal)) < 2_000
    return None


def assert_sound(config: Any, gpus: int) -> None:
    facts = sound_or_refused(config)
    if facts is None:
        return
    assert facts.outline == model_outline(config)
    numbers = [
        facts.parameters,
        weight_bytes_per_gpu(facts, gpus),
        weight_bytes_per_gpu(facts, gpus, compute_capability="9.0"),
        kv_bytes_per_token_per_gpu(facts, gpus),
        kv_bytes_per_token_per_gpu(facts, gpus, "fp8"),
        state_bytes_per_request_per_gpu(facts, gpus),
        *(window.bytes_per_token for window in windowed_kv_per_gpu(facts, gpus)),
    ]
    assert all(type(number) is int and number >= 0 and math.isfinite(number) for number in numbers)
    assert facts.parameters > 0
    assert weight_bytes_per_gpu(facts, gpus) > 0


@given(config=damaged(), gpus=st.sampled_from([1, 2, 3, 8, 16]))
@settings(max_examples=400, deadline=None)
def test_a_damaged_file_gives_a_sound_result_or_one_typed_error(config: dict[str, Any], gpus: int) -> None:
    assert_sound(config, gpus)


@given(config=JSON)
@settings(max_examples=200, deadline=None)
def test_anything_else_gives_one_typed_error(config: Any) -> None:
    assert_sound(config, 1)


@given(
    stated=st.dictionaries(
        st.sampled_from(
            [
                "quant_method",
                "quant_algo",
                "bits",
                "ignore",
                "weight_block_size",
                "config_groups",
                "quantized_layers",
                "quantization",
            ]
        ),
        JSON,
    )
)
@settings(max_examples=200, deadline=None)
def test_any_quantization_gives_a_sound_result_or_one_typed_error(stated: dict[str, Any]) -> None:
    assert_sound({**LLAMA, "quantization_config": stated}, 2)
