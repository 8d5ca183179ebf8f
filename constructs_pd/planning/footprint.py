"""What a model of the catalogue takes of a GPU's memory: derived from its config.json, or as a user states it."""

from __future__ import annotations

from dataclasses import dataclass

from constructs_pd.planning.catalog.rows import ModelRow, ModelSizes
from constructs_pd.planning.models.memory import (
    WindowedKv,
    kv_bytes_per_token_per_gpu,
    state_bytes_per_request_per_gpu,
    weight_bytes_per_gpu,
    windowed_kv_per_gpu,
)
from constructs_pd.planning.sizes import MIB_PER_GIB

_BYTES_PER_GIB = MIB_PER_GIB * 1024**2


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a model takes of each GPU of an engine.

    Attributes:
        weight_bytes: Bytes of weights.
        kv_bytes_per_token: Bytes of a token in the layers that keep every token.
        windows: What layers keep of the last tokens alone.
        state_bytes_per_request: Bytes of one state of a request, of a hybrid model.
    """

    weight_bytes: int
    kv_bytes_per_token: int
    windows: tuple[WindowedKv, ...]
    state_bytes_per_request: int


def footprint(
    row: ModelRow,
    tensor_parallel: int = 1,
    *,
    dtype: str = "auto",
    kv_cache_dtype: str = "auto",
    compute_capability: str | None = None,
) -> Footprint | None:
    """Return what a model takes of each GPU, or none where its row says nothing of its size.

    Sizes by hand win over a config.json.

    Args:
        row: The model's row.
        tensor_parallel: GPUs of an engine.
        dtype: The type of weights that are not converted, as in a specification.
        kv_cache_dtype: The type of the KV cache, as in a specification; sizes by hand are taken as they stand.
        compute_capability: NVIDIA's, such as "8.9".
    """
    if row.sizes is not None:
        return _by_hand(row.sizes, row.kv_heads, tensor_parallel)
    facts = row.facts
    if facts is None:
        return None
    return Footprint(
        weight_bytes_per_gpu(facts, tensor_parallel, dtype, compute_capability),
        kv_bytes_per_token_per_gpu(facts, tensor_parallel, kv_cache_dtype),
        windowed_kv_per_gpu(facts, tensor_parallel, kv_cache_dtype),
        state_bytes_per_request_per_gpu(facts, tensor_parallel),
    )


def _by_hand(sizes: ModelSizes, kv_heads: int, gpus: int) -> Footprint:
    """Split a whole model's sizes: weights and states over all GPUs, the KV cache over as many as it has heads."""
    weights = round(sizes.weights_gib * _BYTES_PER_GIB)
    return Footprint(
        -(-weights // gpus),
        -(-sizes.kv_bytes_per_token // min(gpus, kv_heads)),
        (),
        -(-sizes.state_bytes_per_request // gpus),
    )
