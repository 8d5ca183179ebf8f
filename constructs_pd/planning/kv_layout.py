"""How vLLM divides a GPU's KV cache into blocks, and how many requests and tokens it then holds.

Source: vLLM 0.26.0 v1/core/kv_cache_utils.py and v1/kv_cache_interface.py; platforms/interface.py for hybrid models.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import Final, Literal

from constructs_pd.planning.models.facts import ModelFacts
from constructs_pd.planning.models.memory import cache_bytes_per_token, state_bytes

# vLLM 0.26.0 config/cache.py, DEFAULT_BLOCK_SIZE, and the least of its attention kernels.
DEFAULT_BLOCK_TOKENS: Final = 16
# The indexer of sparse attention, FlashMLA on compute capability 9 and CUTLASS MLA on 10 have their own.
SPARSE_BLOCK_TOKENS: Final = 64
MLA_BLOCK_TOKENS: Final = {"9": 64, "10": 128}
# v1/core/kv_cache_utils.py, _get_kv_cache_groups_uniform_page_size: kinds of almost the same number share the larger.
ALMOST_EQUAL: Final = 1.5

Kind = Literal["full", "sliding", "chunked", "state"]


@dataclass(frozen=True, slots=True)
class KvGroup:
    """Layers that share blocks.

    Attributes:
        kind: What they keep: every token, the last tokens, or one state for a request.
        count: Groups of this kind.
        block_tokens: Tokens of a block; of a state it does not matter.
        window_tokens: Tokens of the window, where there is one.
        states: States that a request holds.
    """

    kind: Kind
    count: int
    block_tokens: int
    window_tokens: int | None = None
    states: int = 1

    def blocks(self, tokens: int, in_flight_tokens: int) -> int:
        """Return the blocks that a request of so many tokens holds in all groups of this kind."""
        if self.kind == "state":
            return self.count * self.states
        if self.window_tokens is None:
            return self.count * ceil(tokens / self.block_tokens)
        if self.kind == "sliding":
            held = min(self.window_tokens - 1 + in_flight_tokens, tokens)
            return self.count * (ceil(held / self.block_tokens) + 1)
        return self.count * ceil(min(self.window_tokens + in_flight_tokens, tokens) / self.block_tokens)


@dataclass(frozen=True, slots=True)
class KvLayout:
    """How one GPU's KV cache is divided.

    Attributes:
        block_bytes: Bytes of a block, in all layers of a group together.
        groups: The groups.
        in_flight_tokens: Tokens of the batches that run at once, which windows hold beside themselves.
    """

    block_bytes: int
    groups: tuple[KvGroup, ...]
    in_flight_tokens: int

    def blocks_per_request(self, tokens: int) -> int:
        """Return the blocks that a request of so many tokens holds."""
        return sum(group.blocks(tokens, self.in_flight_tokens) for group in self.groups)

    def bytes_per_request(self, tokens: int) -> int:
        """Return the bytes that a request of so many tokens holds."""
        return self.blocks_per_request(tokens) * self.block_bytes

    def blocks(self, available_bytes: int) -> int:
        """Return the blocks that fit."""
        return max(0, available_bytes) // self.block_bytes

    def requests(self, available_bytes: int, tokens: int) -> float:
        """Return how many requests of so many tokens fit: vLLM's "Maximum concurrency"."""
        return self.blocks(available_bytes) / self.blocks_per_request(tokens)

    def tokens(self, available_bytes: int, max_model_len: int) -> int:
        """Return how many tokens fit: vLLM's "GPU KV cache size"."""
        return int(self.requests(available_bytes, max_model_len) * max_model_len)

    def longest_request(self, available_bytes: int, requests: int, most_tokens: int) -> int:
        """Return the most tokens, up to a bound, of which so many requests fit; 0 where not even one token does."""
        low, high = 0, most_tokens
        while low < high:
            middle = (low + high + 1) // 2
            if self.requests(available_bytes, middle) >= requests:
                low = middle
            else:
                high = middle - 1
        return low


@dataclass(frozen=True, slots=True)
class _Layers:
    kind: Kind
    count: int
    bytes_per_token: int  # of one layer
    window_tokens: int | None = None


def kv_layout(
    facts: ModelFacts,
    *,
    tensor_parallel: int,
    kv_cache_dtype: str,
    in_flight_tokens: int,
    compute_capability: str | None = None,
    block_tokens: int | None = None,
    states_per_request: int = 1,
) -> KvLayout:
    """Return how vLLM divides the KV cache of a model.

    Args:
        facts: The model.
        tensor_parallel: GPUs of an engine.
        kv_cache_dtype: As in a specification.
        in_flight_tokens: Tokens of the batches that run at once: twice max_num_batched_tokens, since vLLM prepares one
            batch while another runs.
        compute_capability: NVIDIA's, such as "9.0".
        block_tokens: The block size that the engine is told. Default: what vLLM chooses.
        states_per_request: States that a request of a hybrid model holds: 1, and 2 with prefix caching, which vLLM
            0.26.0 leaves off for these models.
    """
    layers = [
        _Layers(
            "full" if group.window_tokens is None else "sliding" if group.kind == "sliding" else "chunked",
            group.layers,
            cache_bytes_per_token(group, facts, tensor_parallel, kv_cache_dtype) // group.layers,
            group.window_tokens,
        )
        for group in facts.caches
    ]
    block = block_tokens or _default_block(facts, compute_capability)
    if facts.states:
        return _hybrid(facts, layers, tensor_parallel, block, in_flight_tokens, states_per_request)
    if all(layer.window_tokens is None for layer in layers):
        size = sum(layer.count * layer.bytes_per_token for layer in layers)
        return KvLayout(block * size, (KvGroup("full", 1, block),), in_flight_tokens)
    return _windowed(layers, block, in_flight_tokens)


def _default_block(facts: ModelFacts, compute_capability: str | None) -> int:
    kinds = {group.kind for group in facts.caches}
    if "indexer" in kinds:
        return SPARSE_BLOCK_TOKENS
    if "mla" in kinds:
        return MLA_BLOCK_TOKENS.get((compute_capability or "").partition(".")[0], DEFAULT_BLOCK_TOKENS)
    return DEFAULT_BLOCK_TOKENS


def _windowed(layers: list[_Layers], block: int, in_flight_tokens: int) -> KvLayout:
    """Pages of all layers are made equal: a layer with smaller ones gets more tokens into a block."""
    page = max(layer.bytes_per_token for layer in layers) * block
    size = _group_size([layer.count for layer in layers])
    groups = tuple(
        KvGroup(layer.kind, ceil(layer.count / size), page // layer.bytes_per_token, layer.window_tokens)
        for layer in layers
    )
    return KvLayout(page * size, groups, in_flight_tokens)


def _hybrid(
    facts: ModelFacts,
    layers: list[_Layers],
    tensor_parallel: int,
    block: int,
    in_flight_tokens: int,
    states_per_request: int,
) -> KvLayout:
    """A block of attention is made as large as a state, so that the two can change places."""
    state = max(state_bytes(group, facts, tensor_parallel) for group in facts.states)
    token = max(layer.bytes_per_token for layer in layers)
    tokens = block * ceil(state / (block * token))
    states = sum(group.layers for group in facts.states)
    size = _group_size([*(layer.count for layer in layers), states])
    groups = (
        *(KvGroup(layer.kind, ceil(layer.count / size), tokens, layer.window_tokens) for layer in layers),
        KvGroup("state", ceil(states / size), tokens, states=states_per_request),
    )
    return KvLayout(tokens * token * size, groups, in_flight_tokens)


def _group_size(counts: list[int]) -> int:
    return max(counts) if max(counts) < ALMOST_EQUAL * min(counts) else min(counts)
