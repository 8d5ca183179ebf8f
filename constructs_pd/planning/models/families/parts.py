"""The parts that families of architectures share: attention, feed-forward layers, experts, embeddings."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass
from typing import Literal

from constructs_pd.planning.models.config_reader import MOST_EXPERTS, ConfigReader
from constructs_pd.planning.models.errors import missing_field
from constructs_pd.planning.models.layers import CacheGroup
from constructs_pd.planning.models.matrices import Matrix, vector


@dataclass(frozen=True, slots=True)
class Heads:
    """The heads of grouped-query attention.

    Attributes:
        query: Query heads.
        kv: Key/value heads.
        key_dim: Elements of a query or key head.
        value_dim: Elements of a value head.
    """

    query: int
    kv: int
    key_dim: int
    value_dim: int

    def cache(self, kind: Literal["full", "sliding", "chunked"] = "full", window: int | None = None) -> CacheGroup:
        """Return what one layer keeps for a token."""
        return CacheGroup(kind, 1, self.kv, self.key_dim, self.value_dim, window_tokens=window)


def heads(config: ConfigReader, hidden: int, default_query: int | None = None, default_kv: int | None = None) -> Heads:
    """Return the heads that a configuration states in the usual fields."""
    query = config.integer("num_attention_heads", default=default_query, most=100_000)
    kv = config.integer("num_key_value_heads", default=default_kv or query, most=100_000)
    config.divides(kv, query, "num_key_value_heads", "num_attention_heads")
    dim = config.optional("head_dim", most=100_000)
    if dim is None:
        config.divides(query, hidden, "num_attention_heads", "hidden_size")
        dim = hidden // query
    return Heads(query, kv, dim, dim)


def attention(
    path: str,
    hidden: int,
    shape: Heads,
    *,
    bias: bool = False,
    output_bias: bool = False,
    gated: bool = False,
    value_counted: bool = True,
    cached: bool = True,
) -> Iterator[Matrix]:
    """Yield the projections of grouped-query attention.

    Args:
        path: The layer's path.
        hidden: The model's width.
        shape: Its heads.
        bias: Whether queries, keys and values have a bias.
        output_bias: Whether the output has one, which every GPU keeps.
        gated: Whether the queries' projection makes an output gate too.
        value_counted: Whether the checkpoint holds a projection of values.
        cached: Whether the checkpoint holds projections of keys and values.
    """
    query_rows = shape.query * shape.key_dim * (2 if gated else 1)
    key_rows, value_rows = shape.kv * shape.key_dim, shape.kv * shape.value_dim
    yield Matrix(f"{path}.q_proj", query_rows, hidden, "rows")
    yield Matrix(f"{path}.k_proj", key_rows, hidden, "heads", heads=shape.kv, counted=cached)
    yield Matrix(f"{path}.v_proj", value_rows, hidden, "heads", heads=shape.kv, counted=cached and value_counted)
    yield Matrix(f"{path}.o_proj", hidden, shape.query * shape.value_dim, "columns")
    if bias:
        yield vector(f"{path}.q_proj", query_rows, "rows")
        yield Matrix(f"{path}.kv_proj", key_rows + value_rows, 1, "heads", heads=shape.kv, linear=False)
    if output_bias:
        yield vector(f"{path}.o_proj", hidden)


def gated_mlp(path: str, hidden: int, intermediate: int, *, bias: bool = False) -> Iterator[Matrix]:
    """Yield a feed-forward layer with a gate."""
    yield Matrix(f"{path}.gate_proj", intermediate, hidden, "rows")
    yield Matrix(f"{path}.up_proj", intermediate, hidden, "rows")
    yield Matrix(f"{path}.down_proj", hidden, intermediate, "columns")
    if bias:
        yield vector(path, 2 * intermediate, "rows")
        yield vector(path, hidden)


def plain_mlp(path: str, hidden: int, intermediate: int, *, bias: bool = False) -> Iterator[Matrix]:
    """Yield a feed-forward layer without a gate."""
    yield Matrix(f"{path}.up_proj", intermediate, hidden, "rows")
    yield Matrix(f"{path}.down_proj", hidden, intermediate, "columns")
    if bias:
        yield vector(path, intermediate, "rows")
        yield vector(path, hidden)


def experts(path: str, hidden: int, intermediate: int, count: int, *, gated: bool = True) -> Iterator[Matrix]:
    """Yield the experts of a layer; tensor parallel splits each of them."""
    yield Matrix(f"{path}.experts", intermediate * (2 if gated else 1), hidden, "rows", copies=count)
    yield Matrix(f"{path}.experts", hidden, intermediate, "columns", copies=count)


def router(path: str, hidden: int, count: int, *, bias: bool = False) -> Iterator[Matrix]:
    """Yield the matrix that chooses experts, which every GPU keeps whole and nothing converts."""
    yield Matrix(path, count, hidden, "whole", linear=False)
    if bias:
        yield vector(path, count)


def expert_count(config: ConfigReader, *names: str) -> int:
    """Return how many experts a layer has."""
    return config.integer(*names, most=MOST_EXPERTS)


def embeddings(config: ConfigReader, hidden: int, vocabulary: int, *, tied: bool) -> Iterator[Matrix]:
    """Yield the embedding, the output head where it has weights of its own, and the last norm."""
    tied = config.flag("tie_word_embeddings", tied)
    yield Matrix("embed_tokens", vocabulary, hidden, "vocabulary", linear=False)
    if not tied:
        yield Matrix("lm_head", vocabulary, hidden, "vocabulary", linear=False)
    yield vector("norm", hidden)


def width(config: ConfigReader) -> int:
    """Return the model's width."""
    return config.integer("hidden_size", most=1_000_000)


def vocabulary(config: ConfigReader, default: int | None = None) -> int:
    """Return the number of tokens in the vocabulary."""
    return config.integer("vocab_size", default=default, most=10_000_000)


def window(config: ConfigReader, name: str = "sliding_window", default: int | None = None) -> int:
    """Return the window of sliding layers, in tokens."""
    return config.integer(name, default=default)


def listed_layers(
    config: ConfigReader, layers: int, known: Set[str] = frozenset(("full_attention", "sliding_attention"))
) -> tuple[str, ...] | None:
    """Return the kind of each layer, each of them known, or none where the file does not list them."""
    kinds = config.texts("layer_types")
    if kinds is not None:
        config.length("layer_types", kinds, layers)
        require_known_layers(config, "layer_types", kinds, known)
    return kinds


def required_layers(config: ConfigReader, layers: int) -> tuple[str, ...]:
    """Return the kind of each layer, of a file that must list them."""
    kinds = listed_layers(config, layers)
    if kinds is None:
        raise missing_field(config.field("layer_types"))
    return kinds


def require_known_layers(config: ConfigReader, name: str, kinds: Iterable[str], known: Set[str]) -> None:
    """Refuse kinds of layers that nothing here knows."""
    for kind in set(kinds) - known:
        raise config.refused(name, f"layers of kind {kind[:40]!r} are not known")
