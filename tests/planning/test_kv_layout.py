"""How the KV cache is divided, against what vLLM's own formulas give by hand."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.kv_layout import KvGroup, KvLayout, kv_layout

GIB = 1024**3


def layout_of(model: str, tensor_parallel: int = 1, batch: int = 2048, **stated: object) -> KvLayout:
    facts = load_catalog().models[model].facts
    assert facts is not None
    settings = {"kv_cache_dtype": "auto", **stated}
    return kv_layout(facts, tensor_parallel=tensor_parallel, in_flight_tokens=2 * batch, **settings)  # type: ignore[arg-type]


def test_plain_attention_is_one_group_of_sixteen_tokens() -> None:
    layout = layout_of("Qwen/Qwen3-8B")
    # 36 layers, keys and values, 8 heads of 128, 2 bytes.
    assert layout == KvLayout(16 * 36 * 2 * 8 * 128 * 2, (KvGroup("full", 1, 16),), 4096)
    assert layout.blocks_per_request(1024) == 64
    assert layout.blocks_per_request(1025) == 65
    assert layout.bytes_per_request(1024) == 1024 * 147456


@pytest.mark.parametrize(("tensor_parallel", "share"), [(2, 2), (4, 4), (8, 8), (16, 8), (32, 8)])
def test_gpus_share_the_heads_and_copy_them_when_there_are_too_few(tensor_parallel: int, share: int) -> None:
    whole = layout_of("Qwen/Qwen3-8B").block_bytes
    assert layout_of("Qwen/Qwen3-8B", tensor_parallel).block_bytes == whole // share


def test_half_the_bytes_are_twice_the_tokens() -> None:
    layouts = [layout_of("Qwen/Qwen3-8B", kv_cache_dtype=dtype) for dtype in ("bfloat16", "fp8")]
    tokens = [layout.tokens(4 * GIB, 1024) for layout in layouts]
    assert tokens[1] == pytest.approx(2 * tokens[0], rel=0.001)


def test_a_stated_block_size_is_taken() -> None:
    assert layout_of("Qwen/Qwen3-8B", block_tokens=64).groups == (KvGroup("full", 1, 64),)


@pytest.mark.parametrize(("compute_capability", "tokens"), [(None, 16), ("8.9", 16), ("9.0", 64), ("10.0", 128)])
def test_latent_attention_has_its_kernels_block_and_no_share(compute_capability: str | None, tokens: int) -> None:
    layouts = [layout_of("deepseek-ai/DeepSeek-V3", gpus, compute_capability=compute_capability) for gpus in (1, 8)]
    assert layouts[0] == layouts[1]
    assert layouts[0].groups == (KvGroup("full", 1, tokens),)
    # 61 layers, 512 latent and 64 positional values, 2 bytes.
    assert layouts[0].block_bytes == tokens * 61 * 576 * 2


def test_sparse_attention_counts_its_indexer() -> None:
    layout = layout_of("deepseek-ai/DeepSeek-V3.2")
    assert layout.groups == (KvGroup("full", 1, 64),)
    # The indexer keeps 128 bytes and a 4-byte scale for each token in each of the 61 layers.
    assert layout.block_bytes == 64 * 61 * (576 * 2 + 132)


def test_windows_keep_the_window_and_the_batch() -> None:
    layout = layout_of("openai/gpt-oss-120b")
    assert set(layout.groups) == {KvGroup("full", 1, 16), KvGroup("sliding", 1, 16, window_tokens=128)}
    # 18 layers of each kind, 8 heads of 64.
    assert layout.block_bytes == 16 * 18 * 2 * 8 * 64 * 2
    assert layout.blocks_per_request(131072) == 131072 // 16 + (127 + 4096 + 15) // 16 + 1
    assert layout.blocks_per_request(16) == 1 + 2


def test_chunks_keep_one_chunk() -> None:
    layout = layout_of("meta-llama/Llama-4-Scout-17B-16E-Instruct")
    assert {(group.kind, group.count, group.window_tokens) for group in layout.groups} == {
        ("full", 1, None),
        ("chunked", 3, 8192),
    }
    assert layout.blocks_per_request(131072) == 8192 + 3 * (8192 + 4096) // 16


def test_layers_with_smaller_pages_get_more_tokens_into_a_block() -> None:
    layout = layout_of("google/gemma-4-26B-A4B")
    sizes = {group.kind: group.block_tokens for group in layout.groups}
    assert sizes["full"] != sizes["sliding"]


def test_a_block_of_a_hybrid_model_is_as_large_as_a_state() -> None:
    layout = layout_of("Qwen/Qwen3.5-27B")
    # A start-up log of it says 784 tokens; 16 of its 64 layers have attention.
    assert layout.groups == (KvGroup("full", 1, 784), KvGroup("state", 3, 784))
    assert layout.blocks_per_request(8192) == 11 + 3
    assert layout_of("Qwen/Qwen3.5-27B", states_per_request=2).blocks_per_request(8192) == 11 + 6


def test_nothing_fits_into_nothing() -> None:
    layout = layout_of("Qwen/Qwen3-8B")
    for size in (-GIB, 0, layout.block_bytes - 1):
        assert (layout.blocks(size), layout.requests(size, 16), layout.tokens(size, 16)) == (0, 0, 0)
        assert layout.longest_request(size, 1, 4096) == 0


@given(
    model=st.sampled_from(["Qwen/Qwen3-8B", "Qwen/Qwen3.5-9B", "openai/gpt-oss-120b", "deepseek-ai/DeepSeek-V3.2"]),
    available=st.integers(0, 400 * GIB),
    requests=st.integers(1, 1000),
    most=st.integers(1, 1_000_000),
)
def test_the_longest_request_fits_and_one_token_more_does_not(
    model: str, available: int, requests: int, most: int
) -> None:
    layout = layout_of(model)
    longest = layout.longest_request(available, requests, most)
    assert 0 <= longest <= most
    if longest:
        assert layout.requests(available, longest) >= requests
    if longest < most:
        assert layout.requests(available, longest + 1) < requests
