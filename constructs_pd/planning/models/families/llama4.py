"""Llama 4: chunked attention but for every fourth layer, experts in every layer or every other."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.families.parts import (
    attention,
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    heads,
    router,
    vocabulary,
    width,
)
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def llama4(config: ConfigReader) -> Outline:
    """Count Llama 4. Source: vLLM 0.26.0 models/llama4.py; defaults as in transformers 5.24.0, Llama4TextConfig."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    count = expert_count(config, "num_local_experts")
    expert = config.integer("intermediate_size")
    dense = config.integer("intermediate_size_mlp", default=16_384)
    step = config.integer("interleave_moe_layer_step", default=1, least=0, most=1_000)
    words = vocabulary(config)
    chunk = config.integer("attention_chunk_size", default=8_192)
    every = config.integer("no_rope_layer_interval", default=4, most=1_000)
    # 1 where a layer has rotary positions: those look at their chunk alone.
    rotary = config.integers("no_rope_layers", most=1) or tuple(int((i + 1) % every != 0) for i in range(layers))
    config.length("no_rope_layers", rotary, layers)
    caches = tuple(shape.cache("chunked", chunk) if is_rotary else shape.cache() for is_rotary in rotary)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape)
            if step and (index + 1) % step == 0:
                yield from router(f"{path}.feed_forward.router", hidden, count)
                yield from experts(f"{path}.feed_forward", hidden, expert, count)
                yield from gated_mlp(f"{path}.feed_forward.shared_expert", hidden, expert)
            else:
                yield from gated_mlp(f"{path}.feed_forward", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, caches, matrices)
