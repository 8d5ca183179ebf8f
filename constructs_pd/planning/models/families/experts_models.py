"""Mixtures of experts over grouped-query attention: Mixtral, Qwen3-MoE, GLM-4.5, MiniMax-M2, gpt-oss."""

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
    listed_layers,
    router,
    vocabulary,
    width,
    window,
)
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def mixtral(config: ConfigReader) -> Outline:
    """Count Mixtral. Source: vLLM 0.26.0 models/mixtral.py, MixtralDecoderLayer."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    intermediate = config.integer("intermediate_size")
    count = expert_count(config, "num_local_experts")
    words = vocabulary(config)
    cache = shape.cache()
    if config.has("sliding_window"):
        cache = shape.cache("sliding", window(config))

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape)
            yield from router(f"{path}.block_sparse_moe.gate", hidden, count)
            yield from experts(f"{path}.block_sparse_moe", hidden, intermediate, count)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, (cache,) * layers, matrices)


def qwen3_moe(config: ConfigReader) -> Outline:
    """Count Qwen3-MoE and the language part of Qwen3-VL-MoE. Source: vLLM 0.26.0 models/qwen3_moe.py."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    bias = config.flag("attention_bias", False)
    count = expert_count(config, "num_experts")
    expert = config.integer("moe_intermediate_size")
    words = vocabulary(config)
    sparse = sparse_layers(config, layers)
    dense = config.integer("intermediate_size") if not all(sparse) else 0

    def matrices() -> Iterator[Matrix]:
        for index, is_sparse in enumerate(sparse):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape, bias=bias)
            if is_sparse:
                yield from router(f"{path}.mlp.gate", hidden, count)
                yield from experts(f"{path}.mlp", hidden, expert, count)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden + 2 * shape.key_dim)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, (shape.cache(),) * layers, matrices)


def sparse_layers(config: ConfigReader, layers: int) -> tuple[bool, ...]:
    """Return which of Qwen's layers have experts: every decoder_sparse_step-th but those of mlp_only_layers."""
    step = config.integer("decoder_sparse_step", default=1, most=1_000)
    dense = frozenset(config.integers("mlp_only_layers") or ())
    return tuple(index not in dense and (index + 1) % step == 0 for index in range(layers))


def glm4_moe(config: ConfigReader) -> Outline:
    """Count GLM-4.5 to GLM-4.7. Source: vLLM 0.26.0 models/glm4_moe.py, Glm4MoeDecoderLayer."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    bias = config.flag("attention_bias", False)
    normed = config.flag("use_qk_norm", False)
    count = expert_count(config, "n_routed_experts")
    expert = config.integer("moe_intermediate_size")
    shared = config.integer("n_shared_experts", default=0, least=0, most=1_000) * expert
    first = config.integer("first_k_dense_replace", default=0, least=0, most=1_000)
    dense = config.integer("intermediate_size")
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape, bias=bias)
            if index < first:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            else:
                yield from router(f"{path}.mlp.gate", hidden, count, bias=True)
                yield from experts(f"{path}.mlp", hidden, expert, count)
                if shared:
                    yield from gated_mlp(f"{path}.mlp.shared_experts", hidden, shared)
            yield vector(f"{path}.norms", 2 * hidden + (2 * shape.key_dim if normed else 0))
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, (shape.cache(),) * layers, matrices)


def minimax_m2(config: ConfigReader) -> Outline:
    """Count MiniMax-M2 to M2.7. Source: vLLM 0.26.0 models/minimax_m2.py, MiniMaxM2DecoderLayer."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    bias = config.flag("attention_bias", False)
    count = expert_count(config, "num_local_experts")
    expert = config.integer("intermediate_size")
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape, bias=bias)
            # Norms over all heads at once.
            yield vector(f"{path}.self_attn.q_norm", shape.query * shape.key_dim, "rows")
            yield Matrix(f"{path}.self_attn.k_norm", shape.kv * shape.key_dim, 1, "heads", heads=shape.kv, linear=False)
            yield from router(f"{path}.block_sparse_moe.gate", hidden, count, bias=True)
            yield from experts(f"{path}.block_sparse_moe", hidden, expert, count)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, (shape.cache(),) * layers, matrices)


def gpt_oss(config: ConfigReader) -> Outline:
    """Count gpt-oss, whose even layers slide. Source: vLLM 0.26.0 models/gpt_oss.py, OAIAttention and MLPBlock."""
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    tokens = window(config)
    count = expert_count(config, "num_local_experts", "num_experts")
    expert = config.integer("intermediate_size")
    words = vocabulary(config)
    kinds = listed_layers(config, layers) or tuple(
        "full_attention" if index % 2 else "sliding_attention" for index in range(layers)
    )
    caches = tuple(shape.cache("sliding", tokens) if kind == "sliding_attention" else shape.cache() for kind in kinds)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape, bias=True, output_bias=True)
            yield vector(f"{path}.self_attn.sinks", shape.query, "rows")
            yield from router(f"{path}.mlp.router", hidden, count, bias=True)
            yield from experts(f"{path}.mlp", hidden, expert, count)
            yield vector(f"{path}.mlp.experts_bias", 2 * expert, "rows", copies=count)
            yield vector(f"{path}.mlp.experts_bias", hidden, copies=count)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, caches, matrices)
