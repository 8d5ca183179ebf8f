"""Dense models of Llama's build: Llama, Mistral, Qwen2, Qwen3, Phi-3 and Phi-4, MiMo, Granite, and the Gemmas."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.families.parts import (
    Heads,
    attention,
    embeddings,
    gated_mlp,
    heads,
    listed_layers,
    vocabulary,
    width,
    window,
)
from constructs_pd.planning.models.layers import CacheGroup
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def llama(config: ConfigReader) -> Outline:
    """Count Llama, Mistral, Phi-3 and Granite. Source: vLLM 0.26.0 models/llama.py, LlamaAttention."""
    bias = config.flag("attention_bias", False)
    return _dense(config, _windows(config), bias=bias, output_bias=bias)


def qwen2(config: ConfigReader) -> Outline:
    """Count Qwen2, Qwen2.5 and MiMo. Source: vLLM 0.26.0 models/qwen2.py, Qwen2Attention."""
    _refuse_window(config)
    return _dense(config, None, bias=True)


def qwen3(config: ConfigReader) -> Outline:
    """Count Qwen3 and the language part of Qwen3-VL. Source: vLLM 0.26.0 models/qwen3.py, Qwen3Attention."""
    _refuse_window(config)
    return _dense(config, None, bias=config.flag("attention_bias", False), normed_heads=True)


def gemma2(config: ConfigReader) -> Outline:
    """Count Gemma 2, whose every other layer slides. Source: vLLM 0.26.0 models/gemma2.py, Gemma2Attention."""
    kinds = listed_layers(config, config.layers()) or _interval(config.layers(), 2)
    return _dense(config, _named_windows(config, kinds, 4096), norms=4, tied=True, default_dim=256)


def gemma3(config: ConfigReader) -> Outline:
    """Count Gemma 3, whose sixth layers look at every token. Source: vLLM 0.26.0 models/gemma3.py, Gemma3Attention.

    What the files of its larger models leave out is as in transformers 5.24.0 models/gemma3/configuration_gemma3.py.
    """
    layers = config.layers()
    every = config.integer("sliding_window_pattern", "_sliding_window_pattern", default=6, most=1_000)
    kinds = listed_layers(config, layers) or _interval(layers, every)
    windows = _named_windows(config, kinds, 4096)
    return _dense(
        config,
        windows,
        norms=4,
        tied=True,
        normed_heads=True,
        default_dim=256,
        defaults=(8, 4),
        vocabulary_size=262_208,
    )


def _windows(config: ConfigReader) -> tuple[int | None, ...] | None:
    """Return each layer's window: as layer_types has it, else sliding_window for every layer, where it is given."""
    kinds = listed_layers(config, config.layers())
    if kinds is not None:
        return _named_windows(config, kinds, None)
    if not config.has("sliding_window") or config.integer("sliding_window", least=0) == 0:
        return None
    return (window(config),) * config.layers()


def _named_windows(config: ConfigReader, kinds: tuple[str, ...], default: int | None) -> tuple[int | None, ...]:
    if "sliding_attention" not in kinds:
        return (None,) * len(kinds)
    tokens = window(config, default=default)
    return tuple(tokens if kind == "sliding_attention" else None for kind in kinds)


def _interval(layers: int, every: int) -> tuple[str, ...]:
    return tuple("sliding_attention" if (index + 1) % every else "full_attention" for index in range(layers))


def _refuse_window(config: ConfigReader) -> None:
    # transformers ignores sliding_window unless use_sliding_window is set; vLLM's Qwen models have no sliding layers.
    if config.flag("use_sliding_window", False):
        raise config.refused("use_sliding_window", "vLLM 0.26.0 serves this model without windows")


def _dense(
    config: ConfigReader,
    windows: tuple[int | None, ...] | None,
    *,
    bias: bool = False,
    output_bias: bool = False,
    norms: int = 2,
    normed_heads: bool = False,
    tied: bool = False,
    default_dim: int | None = None,
    defaults: tuple[int, int] | None = None,
    vocabulary_size: int | None = None,
) -> Outline:
    hidden, layers = width(config), config.layers()
    shape = heads(config, hidden, *(defaults or (None, None)))
    if default_dim is not None and not config.has("head_dim"):
        shape = Heads(shape.query, shape.kv, default_dim, default_dim)
    intermediate = config.integer("intermediate_size")
    words = vocabulary(config, vocabulary_size)
    mlp_bias = config.flag("mlp_bias", False)
    caches = tuple(_cache(shape, tokens) for tokens in windows or (None,) * layers)

    def matrices() -> Iterator[Matrix]:
        for index in range(layers):
            path = f"layers.{index}"
            yield from attention(f"{path}.self_attn", hidden, shape, bias=bias, output_bias=output_bias)
            yield from gated_mlp(f"{path}.mlp", hidden, intermediate, bias=mlp_bias)
            yield vector(f"{path}.norms", norms * hidden + (2 * shape.key_dim if normed_heads else 0))
        yield from embeddings(config, hidden, words, tied=tied)

    return Outline(shape.query, shape.kv, caches, matrices)


def _cache(shape: Heads, tokens: int | None) -> CacheGroup:
    return shape.cache() if tokens is None else shape.cache("sliding", tokens)
