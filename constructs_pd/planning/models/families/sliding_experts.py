"""Mixtures of experts whose sliding layers have heads of their own: MiMo-V2 and Step-3.5."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.models.config_reader import MOST_LAYERS, ConfigReader
from constructs_pd.planning.models.errors import ModelConfigError, shown
from constructs_pd.planning.models.families.parts import (
    Heads,
    attention,
    embeddings,
    expert_count,
    experts,
    gated_mlp,
    required_layers,
    router,
    vocabulary,
    width,
    window,
)
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def mimo_v2(config: ConfigReader) -> Outline:
    """Count MiMo-V2, whose values are narrower than its keys. Source: vLLM 0.26.0 models/mimo_v2.py."""
    hidden, layers = width(config), config.layers()
    full, sliding = _prefixed(config, ""), _prefixed(config, "swa_")
    tokens = config.integer("sliding_window_size", "sliding_window")
    pattern = config.integers("hybrid_layer_pattern", most=1) or (0,) * layers
    config.length("hybrid_layer_pattern", pattern, layers)
    sparse = config.integers("moe_layer_freq", most=1) or (0,) * layers
    config.length("moe_layer_freq", sparse, layers)
    bias = config.flag("attention_bias", False)
    count = expert_count(config, "n_routed_experts")
    expert = config.integer("moe_intermediate_size")
    dense = config.integer("intermediate_size")
    words = vocabulary(config)
    caches = tuple(sliding.cache("sliding", tokens) if slides else full.cache() for slides in pattern)

    def matrices() -> Iterator[Matrix]:
        for index, (slides, is_sparse) in enumerate(zip(pattern, sparse, strict=True)):
            path, shape = f"layers.{index}", sliding if slides else full
            yield from attention(f"{path}.self_attn", hidden, shape, bias=bias)
            if is_sparse:
                yield from router(f"{path}.mlp.gate", hidden, count, bias=True)
                yield from experts(f"{path}.mlp", hidden, expert, count)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(full.query, full.kv, caches, matrices)


def _prefixed(config: ConfigReader, prefix: str) -> Heads:
    query = config.integer(f"{prefix}num_attention_heads", most=100_000)
    kv = config.integer(f"{prefix}num_key_value_heads", most=100_000)
    config.divides(kv, query, f"{prefix}num_key_value_heads", f"{prefix}num_attention_heads")
    key_dim = config.integer(f"{prefix}head_dim", most=100_000)
    return Heads(query, kv, key_dim, config.integer(f"{prefix}v_head_dim", default=key_dim, most=100_000))


def step3p5(config: ConfigReader) -> Outline:
    """Count Step-3.5. Source: vLLM 0.26.0 models/step3p5.py, Step3p5DecoderLayer."""
    hidden, layers = width(config), config.layers()
    full = _step_heads(config, "num_attention_heads")
    kinds = required_layers(config, layers)
    other = config.mapping("attention_other_setting")
    special = _step_heads(other, "num_attention_heads") if other is not None else full
    special_kind = other.text("attention_type") if other is not None else None
    tokens = window(config) if "sliding_attention" in kinds else None
    gate = config.flag("use_head_wise_attn_gate", False)
    sparse = _moe_layers(config, layers)
    count = expert_count(config, "moe_num_experts")
    expert = config.integer("moe_intermediate_size")
    shared = config.integer("share_expert_dim")
    dense = config.integer("intermediate_size")
    words = vocabulary(config)
    shapes = tuple(special if kind == special_kind else full for kind in kinds)
    caches = tuple(
        shape.cache("sliding", tokens) if kind == "sliding_attention" else shape.cache()
        for shape, kind in zip(shapes, kinds, strict=True)
    )

    def matrices() -> Iterator[Matrix]:
        for index, shape in enumerate(shapes):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape)
            if gate:
                yield Matrix(f"{path}.self_attn.g_proj", shape.query, hidden, "rows")
            if index in sparse:
                yield from router(f"{path}.moe.gate", hidden, count, bias=True)
                yield from experts(f"{path}.moe", hidden, expert, count)
                yield from gated_mlp(f"{path}.share_expert", hidden, shared)
            else:
                yield from gated_mlp(f"{path}.mlp", hidden, dense)
            yield vector(f"{path}.norms", 2 * hidden + 2 * shape.key_dim)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(full.query, full.kv, caches, matrices)


def _step_heads(config: ConfigReader, query_name: str) -> Heads:
    query = config.integer(query_name, most=100_000)
    kv = config.integer("num_attention_groups", most=100_000)
    config.divides(kv, query, "num_attention_groups", query_name)
    dim = config.integer("head_dim", most=100_000)
    return Heads(query, kv, dim, dim)


def _moe_layers(config: ConfigReader, layers: int) -> frozenset[int]:
    """Return the layers with experts: a text of numbers with commas, or all but the first."""
    text = config.text("moe_layers_enum")
    if text is None:
        return frozenset(range(1, layers))
    parts = [part.strip() for part in text.split(",")]
    if len(parts) > MOST_LAYERS or not all(part.isascii() and part.isdigit() and len(part) < 5 for part in parts):
        raise ModelConfigError(config.field("moe_layers_enum"), shown(text), "write layer numbers with commas")
    return frozenset(map(int, parts))
