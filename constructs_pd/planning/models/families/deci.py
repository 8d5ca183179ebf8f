"""Models that a search has thinned out: NVIDIA's Nemotron on DeciLM, with layers of different shapes."""

from __future__ import annotations

from collections.abc import Iterator

from constructs_pd.planning.models.config_reader import ConfigReader
from constructs_pd.planning.models.errors import ModelConfigError, missing_field, shown
from constructs_pd.planning.models.families.parts import Heads, attention, embeddings, gated_mlp, vocabulary, width
from constructs_pd.planning.models.matrices import Matrix, Outline, vector


def deci(config: ConfigReader) -> Outline:
    """Count DeciLM: a layer may lack attention or the feed-forward part.

    Source: vLLM 0.26.0 models/nemotron_nas.py, DeciLMDecoderLayer and _ffn_mult_to_intermediate_size.
    """
    hidden, layers = width(config), config.layers()
    query = config.integer("num_attention_heads", most=100_000)
    config.divides(query, hidden, "num_attention_heads", "hidden_size")
    words = vocabulary(config)
    blocks = config.mappings("block_configs")
    if blocks is None:
        raise missing_field(config.field("block_configs"))
    config.length("block_configs", blocks, layers)
    shapes = tuple(_heads(block, hidden, query) for block in blocks)
    widths = tuple(_intermediate(block, hidden) for block in blocks)
    kept = tuple(shape for shape in shapes if shape is not None)
    if not kept:
        raise ModelConfigError(config.field("block_configs"), "no layer has attention", "correct the config.json")

    def matrices() -> Iterator[Matrix]:
        for index, (shape, intermediate) in enumerate(zip(shapes, widths, strict=True)):
            path = f"layers.{index}"
            if shape is not None:
                yield from attention(f"{path}.self_attn", hidden, shape)
                yield vector(f"{path}.norms", hidden)
            if intermediate is not None:
                yield from gated_mlp(f"{path}.mlp", hidden, intermediate)
                yield vector(f"{path}.norms", hidden)
        yield from embeddings(config, hidden, words, tied=False)

    return Outline(query, kept[0].kv, tuple(shape.cache() for shape in kept), matrices)


def _heads(block: ConfigReader, hidden: int, query: int) -> Heads | None:
    stated = block.mapping("attention")
    if stated is None or stated.flag("no_op", False):
        return None
    if stated.flag("replace_with_linear", False):
        raise stated.refused("replace_with_linear", "linear layers in place of attention are not known")
    group = stated.integer("n_heads_in_group", most=100_000)
    stated.divides(group, query, "n_heads_in_group", "num_attention_heads")
    dim = hidden // query
    return Heads(query, query // group, dim, dim)


def _intermediate(block: ConfigReader, hidden: int) -> int | None:
    stated = block.mapping("ffn")
    if stated is None or stated.flag("no_op", False):
        return None
    factor = stated.raw("ffn_mult")
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 0 < factor < 1_000:
        raise ModelConfigError(stated.field("ffn_mult"), shown(factor), "write a factor from 0 to 1,000")
    return -(-int(2 * factor * hidden / 3) // 256) * 256
