"""Gemma 4: sliding layers and wider global ones, dense or with experts beside the dense part."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.families.parts import (
    Heads,
    attention,
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    heads,
    required_layers,
    router,
    vocabulary,
    width,
    window,
)
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def gemma4(config: ConfigReader) -> Outline:
    """Count Gemma 4.

    Global layers may use their keys as values: the checkpoint then has no values' projection, but vLLM makes one.
    The last `num_kv_shared_layers` read an earlier layer's cache and keep none. Source: vLLM 0.26.0 models/gemma4.py.
    """
    hidden, layers = width(config), config.layers()
    sliding = heads(config, hidden)
    full = _global_heads(config, sliding)
    kinds = required_layers(config, layers)
    tokens = window(config)
    borrowed = config.integer("num_kv_shared_layers", default=0, least=0, most=layers)
    own = layers - borrowed
    shapes = tuple(full if kind == "full_attention" else sliding for kind in kinds)
    caches = tuple(
        shape.cache() if kind == "full_attention" else shape.cache("sliding", tokens)
        for shape, kind in zip(shapes[:own], kinds[:own], strict=True)
    )
    keys_are_values = config.flag("attention_k_eq_v", False)
    intermediate = config.integer("intermediate_size")
    wide = config.flag("use_double_wide_mlp", False)
    has_experts = config.flag("enable_moe_block", False)
    count = expert_count(config, "num_experts") if has_experts else 0
    expert = config.integer("moe_intermediate_size", "expert_intermediate_size") if has_experts else 0
    extra = config.integer("hidden_size_per_layer_input", default=0, least=0, most=100_000)
    words = vocabulary(config)
    extra_words = config.integer("vocab_size_per_layer_input", default=words) if extra else 0

    def matrices() -> Iterator[Matrix]:
        for index, (shape, kind) in enumerate(zip(shapes, kinds, strict=True)):
            path, is_own = f"layers.{index}", index < own
            has_values = not (keys_are_values and kind == "full_attention")
            yield from attention(f"{path}.self_attn", hidden, shape, value_counted=has_values, cached=is_own)
            yield from gated_mlp(f"{path}.mlp", hidden, intermediate * (2 if wide and not is_own else 1))
            yield vector(f"{path}.norms", 4 * hidden + 2 * shape.key_dim + 1)
            if has_experts:
                yield from router(f"{path}.router.proj", hidden, count)
                yield from experts(f"{path}", hidden, expert, count)
                yield vector(f"{path}.norms", 4 * hidden + count)
            if extra:
                yield Matrix(f"{path}.per_layer_input_gate", extra, hidden, "whole")
                yield Matrix(f"{path}.per_layer_projection", hidden, extra, "whole")
                yield vector(f"{path}.norms", hidden)
        if extra:
            yield Matrix("embed_tokens_per_layer", extra_words, layers * extra, "vocabulary", linear=False)
            yield Matrix("per_layer_model_projection", layers * extra, hidden, "rows")
            yield vector("per_layer_projection_norm", extra)
        yield from embeddings(config, hidden, words, tied=True)

    return Outline(full.query, full.kv, caches, matrices)


def _global_heads(config: ConfigReader, sliding: Heads) -> Heads:
    kv = sliding.kv
    if config.flag("attention_k_eq_v", False):
        kv = config.integer("num_global_key_value_heads", default=kv, most=100_000)
        config.divides(kv, sliding.query, "num_global_key_value_heads", "num_attention_heads")
    dim = config.integer("global_head_dim", default=sliding.key_dim, most=100_000)
    return Heads(sliding.query, kv, dim, dim)
