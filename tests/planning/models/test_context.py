"""The longest context, as vLLM derives it from a config.json."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.models import ModelConfigError, model_outline
from support.model_configs import LLAMA, with_fields
from support.published_models import published_config


@pytest.mark.parametrize(
    ("rope", "tokens"),
    [
        (None, 8192),
        ({"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}, 32768),
        ({"type": "yarn", "factor": 4, "original_max_position_embeddings": 2048}, 8192),
        ({"rope_type": "yarn", "factor": 2}, 16384),
        ({"rope_type": "linear", "factor": 2.5}, 20480),
        ({"rope_type": "llama3", "factor": 8.0, "original_max_position_embeddings": 1024}, 8192),
        ({"rope_type": "default"}, 8192),
        ({}, 8192),
        ({"full_attention": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 8192}}, 32768),
        ({"full_attention": {"rope_type": "default"}, "sliding_attention": {"rope_type": "default"}}, 8192),
        ({"factor": 8.0}, 8192),
    ],
)
@pytest.mark.parametrize("field", ["rope_scaling", "rope_parameters"])
def test_a_stretched_context_is_as_long_as_vllm_makes_it(field: str, rope: Any, tokens: int) -> None:
    assert (
        model_outline(with_fields(LLAMA, max_position_embeddings=8192, **{field: rope})).max_position_embeddings
        == tokens
    )


def test_gemma_3_is_left_as_it_is() -> None:
    stretched = {"rope_type": "linear", "factor": 8.0}
    own = with_fields(LLAMA, model_type="gemma3_text", max_position_embeddings=8192, rope_scaling=stretched)
    assert model_outline(own).max_position_embeddings == 8192


@pytest.mark.parametrize(("model", "tokens"), [("deepseek-ai/DeepSeek-V3", 163840), ("openai/gpt-oss-20b", 131072)])
def test_published_models_state_what_their_factor_makes_of_it(model: str, tokens: int) -> None:
    assert model_outline(published_config(model)).max_position_embeddings == tokens


@pytest.mark.parametrize("factor", [0, -1, "4", True, float("nan"), float("inf"), 1e308, [4]])
def test_a_factor_that_is_none_is_refused(factor: Any) -> None:
    with pytest.raises(ModelConfigError, match=r"rope_scaling\.factor"):
        model_outline(with_fields(LLAMA, rope_scaling={"rope_type": "yarn", "factor": factor}))
