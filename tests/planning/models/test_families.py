"""What each family of architectures makes of a configuration, and what it refuses."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.models import CacheGroup, ModelConfigError, StateGroup, model_facts
from constructs_pd.planning.models.families import ARCHITECTURES, REFUSED
from support.model_configs import DEEPSEEK, GEMMA3, GRANITE, LLAMA, NEMOTRON, QWEN_HYBRID, STEP, with_fields
from support.published_models import published_config

ALL = [LLAMA, QWEN_HYBRID, NEMOTRON, GRANITE, DEEPSEEK, GEMMA3, STEP]


def parameters(config: dict[str, Any], **fields: Any) -> int:
    return model_facts(with_fields(config, **fields)).parameters


def test_a_dense_model_is_counted_by_hand() -> None:
    attention = 64 * 64 + 2 * 16 * 64 + 64 * 64
    layer = attention + 3 * 128 * 64 + 2 * 64
    facts = model_facts(LLAMA)
    assert facts.parameters == 4 * layer + 2 * 1024 * 64 + 64
    assert facts.caches == (CacheGroup("full", 4, 2, 8, 8),)
    assert facts.states == ()


def test_tied_embeddings_count_once() -> None:
    assert parameters(LLAMA) - parameters(LLAMA, tie_word_embeddings=True) == 1024 * 64


def test_biases_count() -> None:
    qwen = parameters(LLAMA, architectures=["Qwen2ForCausalLM"])
    assert qwen - parameters(LLAMA) == 4 * (64 + 2 * 16)
    both = parameters(LLAMA, attention_bias=True, mlp_bias=True)
    assert both - parameters(LLAMA) == 4 * (64 + 2 * 16 + 64 + 2 * 128 + 64)


def test_a_window_of_a_dense_model_is_every_layers() -> None:
    config = with_fields(LLAMA, architectures=["MistralForCausalLM"], sliding_window=256)
    assert model_facts(config).caches == (CacheGroup("sliding", 4, 2, 8, 8, window_tokens=256),)
    assert model_facts(with_fields(config, sliding_window=0)).caches == model_facts(LLAMA).caches


def test_qwen_ignores_a_window_unless_it_is_switched_on() -> None:
    config = with_fields(LLAMA, architectures=["Qwen3ForCausalLM"], sliding_window=256)
    assert model_facts(config).caches[0].kind == "full"
    with pytest.raises(ModelConfigError, match="use_sliding_window"):
        model_facts(with_fields(config, use_sliding_window=True))


def test_layers_may_alternate() -> None:
    gemma3 = model_facts(GEMMA3)
    assert [(group.kind, group.layers) for group in gemma3.caches] == [("sliding", 5), ("full", 1)]
    gemma2 = model_facts(with_fields(GEMMA3, architectures=["Gemma2ForCausalLM"]))
    assert [(group.kind, group.layers) for group in gemma2.caches] == [("sliding", 3), ("full", 3)]
    listed = model_facts(with_fields(GEMMA3, layer_types=["full_attention"] * 5 + ["sliding_attention"]))
    assert [(group.kind, group.layers) for group in listed.caches] == [("full", 5), ("sliding", 1)]


def test_gemma_3s_larger_files_leave_out_what_transformers_fills_in() -> None:
    left_out = dict.fromkeys(
        ["num_attention_heads", "num_key_value_heads", "head_dim", "vocab_size", "max_position_embeddings"]
    )
    facts = model_facts(with_fields(GEMMA3, **left_out, tie_word_embeddings=True))
    assert (facts.outline.attention_heads, facts.outline.kv_heads) == (8, 4)
    assert facts.outline.max_position_embeddings == 131_072
    assert facts.caches[0].key_dim == 256


def test_a_wrapper_counts_its_vision_tower() -> None:
    inner = {name: value for name, value in GEMMA3.items() if name != "architectures"}
    vision = {
        "hidden_size": 32,
        "image_size": 28,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "patch_size": 14,
    }
    config = {
        "architectures": ["Gemma3ForConditionalGeneration"],
        "text_config": inner,
        "vision_config": vision,
    }
    layer = 4 * (32 * 32 + 32) + 2 * 32 * 64 + 64 + 32 + 4 * 32
    tower = 32 * 3 * 14 * 14 + 32 + 4 * 32 + 2 * layer + 64 * 32 + 3 * 32
    assert model_facts(config).parameters - model_facts(GEMMA3).parameters == tower
    with pytest.raises(ModelConfigError, match="vision_config: missing"):
        model_facts({**config, "vision_config": None})


def test_a_wrappers_tied_embeddings_may_stand_outside_its_text_part() -> None:
    config = published_config("Qwen/Qwen3-VL-2B-Instruct")
    del config["text_config"]["tie_word_embeddings"]
    assert model_facts(config) == model_facts(published_config("Qwen/Qwen3-VL-2B-Instruct"))


def test_hybrids_keep_caches_in_some_layers_and_states_in_others() -> None:
    facts = model_facts(QWEN_HYBRID)
    assert facts.outline.attention == "hybrid"
    assert facts.caches == (CacheGroup("full", 1, 2, 16, 16),)
    assert facts.states == (StateGroup("gdn", 3, 64, 0, 0, 3, 4, 8, 8, None),)
    assert [(group.kind, group.layers) for group in model_facts(NEMOTRON).states] == [("mamba2", 1)]
    assert [(group.kind, group.layers) for group in model_facts(GRANITE).states] == [("mamba2", 36)]


def test_a_granite_without_mamba_is_no_hybrid() -> None:
    facts = model_facts(with_fields(GRANITE, layer_types=["attention"] * 40))
    assert facts.outline.attention == "full"
    assert facts.states == ()


def test_both_ways_to_list_nemotrons_layers_mean_the_same() -> None:
    listed = with_fields(NEMOTRON, hybrid_override_pattern=None, layers_block_type=["mamba", "attention", "mlp", "moe"])
    assert model_facts(listed) == model_facts(NEMOTRON) == model_facts(with_fields(listed, num_hidden_layers=None))


def test_latent_attention_counts_its_low_ranks() -> None:
    full = parameters(DEEPSEEK, q_lora_rank=None)
    low = parameters(DEEPSEEK)
    rows = 8 * (16 + 8)
    assert low - full == 4 * (48 * 64 + rows * 48 + 48 - rows * 64)


def test_layers_of_different_heads_stay_apart() -> None:
    caches = model_facts(STEP).caches
    assert [(group.kind, group.layers, group.kv_heads) for group in caches] == [("full", 12, 8), ("sliding", 33, 8)]
    assert model_facts(STEP).outline.attention_heads == 64


def test_layers_without_attention_keep_nothing() -> None:
    facts = load_catalog().models["nvidia/Llama-3_3-Nemotron-Super-49B-v1"].facts
    assert facts is not None
    assert [(group.kind, group.layers) for group in facts.caches] == [("full", 49)]


def test_layers_that_borrow_a_cache_keep_none() -> None:
    text = published_config("google/gemma-4-26B-A4B")["text_config"]
    config = {**text, "architectures": ["Gemma4ForCausalLM"], "num_kv_shared_layers": 12}
    assert sum(group.layers for group in model_facts(config).caches) == 18


def test_gemma_4s_embeddings_per_layer_count() -> None:
    text = published_config("google/gemma-4-26B-A4B")["text_config"]
    plain = {**text, "architectures": ["Gemma4ForCausalLM"]}
    extra = model_facts({**plain, "hidden_size_per_layer_input": 256}).parameters - model_facts(plain).parameters
    assert extra == 262_144 * 30 * 256 + 30 * 256 * 2816 + 256 + 30 * (2 * 256 * 2816 + 2816)


BROKEN: list[tuple[dict[str, Any], str]] = [
    (with_fields(LLAMA, num_hidden_layers=None), "num_hidden_layers: missing"),
    (with_fields(LLAMA, num_hidden_layers=0), "num_hidden_layers: 0"),
    (with_fields(LLAMA, num_hidden_layers=10**9), "num_hidden_layers: 1000000000"),
    (with_fields(LLAMA, hidden_size=-64), "hidden_size: -64"),
    (with_fields(LLAMA, hidden_size=64.5), "hidden_size: 64.5"),
    (with_fields(LLAMA, hidden_size="64"), "hidden_size: '64'"),
    (with_fields(LLAMA, hidden_size=True), "hidden_size: True"),
    (with_fields(LLAMA, hidden_size=10**5000), "hidden_size: a number of 16,610 bits"),
    (with_fields(LLAMA, num_key_value_heads=3), "num_key_value_heads: 3 does not divide num_attention_heads 8"),
    (with_fields(LLAMA, num_attention_heads=7, num_key_value_heads=7), "num_attention_heads: 7 does not divide"),
    (with_fields(LLAMA, vocab_size=None), "vocab_size: missing"),
    (with_fields(LLAMA, tie_word_embeddings="no"), "tie_word_embeddings: 'no'"),
    (with_fields(LLAMA, torch_dtype="int8"), "torch_dtype: 'int8'"),
    (with_fields(LLAMA, torch_dtype=8), "torch_dtype: 8"),
    (with_fields(LLAMA, architectures=None), "architectures: missing"),
    (with_fields(LLAMA, architectures=[]), "architectures: missing"),
    (with_fields(LLAMA, architectures="LlamaForCausalLM"), "architectures: 'LlamaForCausalLM'; write a list"),
    (with_fields(LLAMA, architectures=["LlamaForCausalLm"]), "is not known, LlamaForCausalLM is"),
    (with_fields(LLAMA, architectures=["RwkvForCausalLM"]), "'RwkvForCausalLM' is not known"),
    (with_fields(LLAMA, text_config=[]), "text_config: a list of 0 entries"),
    (with_fields(LLAMA, layer_types=["full_attention"]), "layer_types: 1 entries for 4 layers"),
    (with_fields(LLAMA, layer_types=["full_attention"] * 3 + ["hyena"]), "layers of kind 'hyena' are not known"),
    (with_fields(LLAMA, layer_types=[1, 2, 3, 4]), "layer_types: a list of 4 entries"),
    (with_fields(LLAMA, layer_types=["sliding_attention"] * 4), "sliding_window: missing"),
    (with_fields(LLAMA, max_position_embeddings=None), "max_position_embeddings: missing"),
    (with_fields(QWEN_HYBRID, layer_types=["linear_attention", "rwkv"] * 2), "layers of kind 'rwkv' are not known"),
    (with_fields(QWEN_HYBRID, linear_num_key_heads=3), "linear_num_key_heads: 3 does not divide"),
    (with_fields(NEMOTRON, hybrid_override_pattern="M*-X"), "layers of kind 'X' are not known"),
    (with_fields(NEMOTRON, hybrid_override_pattern="M*-"), "num_hidden_layers: 3 entries for 4 layers"),
    (with_fields(NEMOTRON, hybrid_override_pattern=None), "hybrid_override_pattern: missing"),
    (with_fields(NEMOTRON, mamba_ssm_cache_dtype="int4"), "mamba_ssm_cache_dtype: 'int4'"),
    (with_fields(GRANITE, layer_types=None), "layer_types: missing"),
    (with_fields(GRANITE, mamba_n_heads=127), "mamba_n_heads: 127 does not divide"),
    (with_fields(DEEPSEEK, kv_lora_rank=None), "kv_lora_rank: missing"),
    (with_fields(DEEPSEEK, index_topk=8), "index_n_heads: missing"),
    (with_fields(DEEPSEEK, index_topk=8, index_topk_pattern="FS"), "index_topk_pattern: 2 entries for 4 layers"),
    (with_fields(STEP, moe_layers_enum="3,4,x"), "moe_layers_enum: '3,4,x'"),
    (with_fields(STEP, layer_types=None), "layer_types: missing"),
    (
        with_fields(
            LLAMA,
            architectures=["MixtralForCausalLM"],
            num_local_experts=9_999,
            num_experts_per_tok=2,
            intermediate_size=10**8,
        ),
        "more than 100 trillion parameters",
    ),
]


@pytest.mark.parametrize(("config", "message"), BROKEN, ids=[message[:60] for _, message in BROKEN])
def test_a_broken_file_names_the_field_what_was_found_and_what_to_do(config: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        model_facts(config)
    assert message in str(caught.value)
    assert str(caught.value) == f"{caught.value.field}: {caught.value.found}; {caught.value.remedy}"


@pytest.mark.parametrize("config", [None, 3, "x", [], [LLAMA]])
def test_what_is_no_mapping_is_refused(config: Any) -> None:
    with pytest.raises(ModelConfigError, match=r"config\.json"):
        model_facts(config)


def test_a_credential_in_a_file_is_not_shown() -> None:
    with pytest.raises(ModelConfigError) as caught:
        model_facts(with_fields(LLAMA, torch_dtype="hf_0123456789abcdefghij"))
    assert "0123456789" not in str(caught.value)


def test_refusals_and_families_do_not_overlap() -> None:
    assert not set(ARCHITECTURES) & set(REFUSED)


@pytest.mark.parametrize("config", ALL, ids=[config["architectures"][0] for config in ALL])
def test_counting_changes_nothing_and_gives_the_same_twice(config: dict[str, Any]) -> None:
    before = repr(config)
    assert model_facts(config) == model_facts(config)
    assert hash(model_facts(config)) == hash(model_facts(config))
    assert repr(config) == before
