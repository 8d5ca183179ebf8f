"""MiniMax-M3: experts over grouped-query attention, most of whose layers select blocks of tokens by an index."""

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
from constructs_pd.planning.models.layers import CacheGroup
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def minimax_m3(config: ConfigReader) -> Outline:
    """Count MiniMax-M3.

    Source: vLLM 0.26.0 models/minimax_m3/nvidia/model.py; its index keys are kept in bfloat16, as config/attention.py
    has it by default (indexer_kv_dtype) and models/minimax_m3/common/indexer.py allocates them.
    """
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden)
    count = expert_count(config, "num_local_experts")
    expert = config.integer("intermediate_size")
    dense = config.integer("dense_intermediate_size")
    shared = config.integer("n_shared_experts", default=0, least=0, most=1_000) * config.integer(
        "shared_intermediate_size", default=expert
    )
    words = vocabulary(config)
    sparse = config.integers("moe_layer_freq", most=1) or (1,) * layers
    config.length("moe_layer_freq", sparse, layers)
    index = config.mapping("sparse_attention_config")
    indexed = (index.integers("sparse_attention_freq", most=1) if index is not None else None) or (0,) * layers
    config.length("sparse_attention_config.sparse_attention_freq", indexed, layers)
    index_dim = index.integer("sparse_index_dim", most=100_000) if index is not None else 0
    index_heads = index.integer("sparse_num_index_heads", most=100_000) if index is not None else 0
    keys = CacheGroup("indexer", 1, 1, index_dim, 0, element_bytes=2)
    caches = (*(shape.cache() for _ in range(layers)), *(keys for is_indexed in indexed if is_indexed))

    def matrices() -> Iterator[Matrix]:
        for number, (is_sparse, is_indexed) in enumerate(zip(sparse, indexed, strict=True)):
            path = f"layers.{number}"
            yield from attention(f"{path}.self_attn", hidden, shape)
            if is_indexed:
                rows = index_heads * index_dim
                yield Matrix(f"{path}.self_attn.index_q_proj", rows, hidden, "heads", heads=index_heads)
                yield Matrix(f"{path}.self_attn.index_k_proj", index_dim, hidden, "whole")
            if is_sparse:
                yield from router(f"{path}.block_sparse_moe.gate", hidden, count, bias=True)
                yield from experts(f"{path}.block_sparse_moe", hidden, expert, count)
                if shared:
                    yield from gated_mlp(f"{path}.block_sparse_moe.shared_experts", hidden, shared)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            norms = 2 * hidden + 2 * shape.key_dim + (2 * index_dim if is_indexed else 0)
            yield vector(f"{path}.norms", norms)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(shape.query, shape.kv, caches, matrices)
