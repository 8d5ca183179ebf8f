"""What decode reads of prefill's GPUs for one request.

Source: vLLM 0.26.0 nixl/base_scheduler.py, get_sw_clipped_blocks; nixl/base_worker.py, _build_fa_remote,
_build_local_splits_from_plan and _build_mamba_local; nixl/pull_worker.py, _read_blocks_for_req; nixl/tp_mapping.py,
compute_tp_mapping.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final

from constructs_pd.planning.attention import is_latent
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import fit
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.kv_layout import Kind, KvGroup, KvLayout
from constructs_pd.planning.models.facts import ModelFacts

# nixl/base_worker.py, register_local_xfer_handler: three parts of the convolution's state, and the recurrent one.
_DESCRIPTORS_PER_STATE: Final = 4


@dataclass(frozen=True, slots=True)
class HandOverSize:
    """One request's KV cache on its way.

    Attributes:
        bytes: Bytes that all GPUs of the decode engine read together.
        descriptors: Reads that each of them posts where no two blocks lie side by side, or none where the model's
            layers or prefill's GPUs are not known.
    """

    bytes: int
    descriptors: int | None


def hand_over_size(facts: Facts, tokens: int) -> HandOverSize | None:
    """Return what is read for a prompt, or none where a fact is missing: PD225 says which.

    Whole blocks are read, of windows the blocks that the window touches, of states one for each request. Each decode
    GPU reads what it keeps, so key/value heads that are repeated and latent vectors cross the link once for each GPU.
    Nothing is taken off for prefixes that decode has cached.
    """
    decode, model = facts.decode, facts.model
    found, size = fit(facts, decode), decode.tensor_parallel
    if found is None or size is None or model is None:
        return None
    stated = facts.spec.model
    each = footprint(model, size, dtype=stated.dtype, kv_cache_dtype=stated.kv_cache_dtype)
    if each is None:
        return None
    read = ceil(tokens / _block(found.layout, "full")) * _block(found.layout, "full") * each.kv_bytes_per_token
    read += each.state_bytes_per_request
    for window in each.windows:
        group = _windowed(found.layout, window.window_tokens)
        read += _window_blocks(group, tokens) * group.block_tokens * window.bytes_per_token
    known, sources = model.facts if model.sizes is None else None, read_sources(facts)
    if known is None or sources is None:
        return HandOverSize(read * size, None)
    return HandOverSize(read * size, sources * reads(known, found.layout, tokens))


def read_sources(facts: Facts) -> int | None:
    """Return from how many of prefill's GPUs each GPU of decode reads a block; none where a size is not known.

    From each that keeps a part of its heads, so from several where prefill is the wider. A latent vector stands whole
    on every GPU, and is read from one. PD301 refuses what does not divide, and hybrid models of unequal sizes.
    """
    prefill, decode = facts.prefill.tensor_parallel, facts.decode.tensor_parallel
    if prefill is None or decode is None or facts.model is None:
        return None
    return 1 if is_latent(facts.model) else ceil(prefill / decode)


def _block(layout: KvLayout, kind: Kind) -> int:
    return max((group.block_tokens for group in layout.groups if group.kind == kind), default=1)


def _windowed(layout: KvLayout, window_tokens: int) -> KvGroup:
    return next(group for group in layout.groups if group.window_tokens == window_tokens)


def _window_blocks(group: KvGroup, tokens: int) -> int:
    """Return the blocks that are read of a layer with a window; of chunked ones vLLM leaves none out."""
    blocks = ceil(tokens / group.block_tokens)
    if group.kind == "chunked" or group.window_tokens is None:
        return blocks
    return min(blocks, ceil(group.window_tokens / group.block_tokens) + 1)


def reads(model: ModelFacts, layout: KvLayout, tokens: int) -> int:
    """Return the reads that a GPU of decode posts to one source where no two blocks lie side by side."""
    full = ceil(tokens / _block(layout, "full"))
    caches = sum(
        cache.layers
        * (full if cache.window_tokens is None else _window_blocks(_windowed(layout, cache.window_tokens), tokens))
        for cache in model.caches
    )
    return caches + _DESCRIPTORS_PER_STATE * sum(state.layers for state in model.states)
