"""Multi-head latent attention: DeepSeek V2 to V3.2, Kimi K2, GLM-5 and GLM-4.7-Flash."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.families.parts import (
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    router,
    vocabulary,
    width,
)
from constructs_pd.planning.models.layers import CacheGroup
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def deepseek(config: ConfigReader) -> Outline:
    """Count a model with latent attention, and the indexer of those that have one.

    Source: vLLM 0.26.0 models/deepseek_v2.py, DeepseekV2MLAAttention, Indexer, DeepseekV32IndexerCache.
    """
    hidden, layers = width(config), config.layers()
    shape = _latent(config)
    indexed = _indexed_layers(config, layers)
    index_heads = config.integer("index_n_heads", most=100_000) if any(indexed) else 0
    index_dim = config.integer("index_head_dim", most=100_000) if any(indexed) else 0
    # Keys in fp8, with a scale of 4 bytes for each 128 elements.
    index_keys = CacheGroup("indexer", 1, 1, index_dim + index_dim // 128 * 4, 0, element_bytes=1)
    cache = CacheGroup("mla", 1, 1, shape.latent + shape.rotary, 0, is_sparse=any(indexed))
    first = config.integer("first_k_dense_replace", default=0, least=0, most=1_000)
    every = config.integer("moe_layer_freq", default=1, most=1_000)
    count = expert_count(config, "n_routed_experts")
    expert = config.integer("moe_intermediate_size")
    shared = config.integer("n_shared_experts", default=0, least=0, most=1_000) * expert
    dense = config.integer("intermediate_size")
    has_bias = config.text("topk_method") == "noaux_tc"
    words = vocabulary(config)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from shape.matrices(f"{path}.self_attn", hidden)
            if indexed[index]:
                yield from _indexer(f"{path}.self_attn.indexer", hidden, shape, index_heads, index_dim)
            if index >= first and index % every == 0:
                yield from router(f"{path}.mlp.gate", hidden, count, bias=has_bias)
                yield from experts(f"{path}.mlp", hidden, expert, count)
                if shared:
                    yield from gated_mlp(f"{path}.mlp.shared_experts", hidden, shared)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    caches = (*(cache for _ in range(layers)), *(index_keys for is_indexed in indexed if is_indexed))
    return Outline(shape.heads, 1, caches, matrices)


@dataclass(frozen=True, slots=True)
class _Latent:
    """Dimensions of latent attention; `query_latent` is none where queries are not compressed."""

    heads: int
    query_latent: int | None
    latent: int
    plain: int
    rotary: int
    value: int

    def matrices(self, path: str, hidden: int) -> Iterator[Matrix]:
        key_rows = self.heads * (self.plain + self.rotary)
        if self.query_latent is None:
            yield Matrix(f"{path}.q_proj", key_rows, hidden, "rows")
        else:
            yield Matrix(f"{path}.q_a_proj", self.query_latent, hidden, "whole")
            yield Matrix(f"{path}.q_b_proj", key_rows, self.query_latent, "rows")
            yield vector(f"{path}.norms", self.query_latent)
        yield Matrix(f"{path}.kv_a_proj_with_mqa", self.latent + self.rotary, hidden, "whole")
        yield Matrix(f"{path}.kv_b_proj", self.heads * (self.plain + self.value), self.latent, "rows")
        yield vector(f"{path}.norms", self.latent)
        yield Matrix(f"{path}.o_proj", hidden, self.heads * self.value, "columns")


def _latent(config: ConfigReader) -> _Latent:
    return _Latent(
        heads=config.integer("num_attention_heads", most=100_000),
        query_latent=config.optional("q_lora_rank", most=1_000_000),
        latent=config.integer("kv_lora_rank", most=1_000_000),
        plain=config.integer("qk_nope_head_dim", most=100_000),
        rotary=config.integer("qk_rope_head_dim", most=100_000),
        value=config.integer("v_head_dim", most=100_000),
    )


def _indexed_layers(config: ConfigReader, layers: int) -> tuple[bool, ...]:
    """Return which layers have an indexer; the others of a sparse model use the one before them."""
    if not config.has("index_topk"):
        return (False,) * layers
    pattern = config.text("index_topk_pattern")
    if pattern is not None:
        config.length("index_topk_pattern", pattern, layers)
        return tuple(letter != "S" for letter in pattern)
    every = config.integer("index_topk_freq", default=1, most=1_000)
    offset = config.integer("index_skip_topk_offset", default=2, least=0, most=1_000)
    return tuple(max(index - offset + 1, 0) % every == 0 for index in range(layers))


def _indexer(path: str, hidden: int, shape: _Latent, index_heads: int, index_dim: int) -> Iterator[Matrix]:
    yield Matrix(f"{path}.wq_b", index_heads * index_dim, shape.query_latent or hidden, "whole")
    # vLLM merges these two in the model's own type, also where the checkpoint converts the first.
    yield Matrix(f"{path}.wk_weights_proj", index_dim + index_heads, hidden, "whole", linear=False)
    yield vector(f"{path}.k_norm", 2 * index_dim)
