"""What a model's layers keep for the tokens of a request: a cache per token, or a state of fixed size."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

CacheKind = Literal["full", "sliding", "chunked", "mla", "indexer"]
StateKind = Literal["gdn", "mamba2"]


@dataclass(frozen=True, slots=True)
class CacheGroup:
    """Equal layers that keep something for each token.

    Attributes:
        kind: full: for every token; sliding and chunked: for the last tokens; mla: a latent vector in place of keys and
            values; indexer: the keys by which sparse attention selects tokens, for every token.
        layers: How many there are.
        kv_heads: Key/value heads; 1 for mla and indexer, whose vector every GPU keeps whole.
        key_dim: Elements of a key head; of mla the latent vector with its rotary part.
        value_dim: Elements of a value head; 0 where there is no value.
        window_tokens: Of sliding and chunked layers the tokens that a query looks back at most, else none.
        element_bytes: Bytes of an element where the KV cache's type does not decide them, else none.
        is_sparse: Whether an indexer selects the tokens of an mla layer.
    """

    kind: CacheKind
    layers: int
    kv_heads: int
    key_dim: int
    value_dim: int
    window_tokens: int | None = None
    element_bytes: int | None = None
    is_sparse: bool = False


@dataclass(frozen=True, slots=True)
class StateGroup:
    """Equal layers that keep a state of fixed size for a request: linear attention or a state-space model.

    Attributes:
        kind: gdn (Gated DeltaNet) or mamba2.
        layers: How many there are.
        conv_dim: Channels of the convolution without `groups`, which tensor parallel splits.
        groups: Groups whose two projections also pass the convolution; repeated where GPUs outnumber them; 0 for gdn.
        group_dim: Channels of the two projections of a group.
        conv_tokens: Tokens that the convolution remembers, one less than its kernel.
        heads: Heads of the recurrent state, which tensor parallel splits.
        head_dim: Rows of a head's state.
        state_dim: Columns of a head's state.
        recurrent_element_bytes: Bytes of an element of the recurrent state, or none where the model's type decides.
    """

    kind: StateKind
    layers: int
    conv_dim: int
    groups: int
    group_dim: int
    conv_tokens: int
    heads: int
    head_dim: int
    state_dim: int
    recurrent_element_bytes: int | None


Group = TypeVar("Group", CacheGroup, StateGroup)


def grouped(layers: Iterable[Group]) -> tuple[Group, ...]:
    """Return single layers as groups, in the order in which each first appears."""
    counts: dict[Group, int] = {}
    for layer in layers:
        counts[layer] = counts.get(layer, 0) + layer.layers
    return tuple(replace(layer, layers=count) for layer, count in counts.items())
