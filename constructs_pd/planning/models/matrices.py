"""The weights of a model as matrices, with how tensor parallel splits each of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from constructs_pd.planning.models.layers import CacheGroup, StateGroup

# rows: vLLM's ColumnParallelLinear; columns: RowParallelLinear; heads: the key/value part of QKVParallelLinear;
# vocabulary: VocabParallelEmbedding and ParallelLMHead; whole: ReplicatedLinear and plain parameters.
Split = Literal["rows", "columns", "heads", "vocabulary", "whole"]


@dataclass(frozen=True, slots=True)
class Matrix:
    """A weight matrix, or several equal ones.

    Attributes:
        path: Its module as a checkpoint names it, from `layers.` on.
        rows: Output features, of all experts' matrices each.
        columns: Input features; 1 for a vector.
        split: What tensor parallel splits.
        copies: How many equal ones there are: the experts of a layer.
        heads: Key/value heads, which are repeated where GPUs outnumber them; of `heads` alone.
        linear: Whether a quantization of the model's linear layers applies to it.
        counted: Whether it counts among the model's parameters; not what vLLM allocates beside a checkpoint's.
    """

    path: str
    rows: int
    columns: int
    split: Split
    copies: int = 1
    heads: int = 1
    linear: bool = True
    counted: bool = True


@dataclass(frozen=True, slots=True)
class Outline:
    """What a family of architectures makes of a configuration.

    Attributes:
        attention_heads: Query heads of an attention layer.
        kv_heads: Key/value heads of an attention layer.
        layers: What each layer keeps, one entry a layer.
        matrices: Makes the model's matrices, the embeddings among them. Only those who ask pay for them.
    """

    attention_heads: int
    kv_heads: int
    layers: tuple[CacheGroup | StateGroup, ...]
    matrices: Callable[[], Iterable[Matrix]] = field(compare=False)


def vector(path: str, elements: int, split: Split = "whole", *, copies: int = 1) -> Matrix:
    """Return a bias, a norm or another vector."""
    return Matrix(path, elements, 1, split, copies=copies, linear=False)
