"""What a model's layers keep, and which attention backend vLLM chooses on a GPU when nobody states one."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.compute_capability import capability

FP8: Final = ("fp8", "fp8_e4m3", "fp8_e5m2")
# FlashAttention 2 and 3 have kernels up to this head size, FlashInfer for these alone (vLLM 0.26.0
# v1/attention/backends/flash_attn.py, supports_head_size; flashinfer.py, get_supported_head_sizes).
_LARGEST_HEAD: Final = 256
_FLASHINFER_HEADS: Final = frozenset({64, 128, 256})
# Images are attended to in both directions, which few backends can (vLLM 0.26.0 is_mm_prefix_lm).
_BOTH_DIRECTIONS: Final = ("Gemma3ForConditionalGeneration", "Gemma4ForConditionalGeneration")


def is_latent(model: ModelRow) -> bool:
    """Return whether the model has multi-head latent attention, as far as its config.json tells."""
    return model.facts is not None and any(cache.kind == "mla" for cache in model.facts.caches)


def is_sparse(model: ModelRow) -> bool:
    """Return whether an indexer selects the tokens of the model's latent attention."""
    return model.facts is not None and any(cache.is_sparse for cache in model.facts.caches)


def has_windows(model: ModelRow) -> bool:
    """Return whether some layers keep a sliding window only, as far as its config.json tells."""
    return model.facts is not None and any(cache.kind == "sliding" for cache in model.facts.caches)


def splits_over(model: ModelRow, gpus: int) -> bool:
    """Return whether the heads divide over so many GPUs, KV heads or their copies too, as PD209 asks."""
    if model.attention_heads % gpus:
        return False
    return model.kv_heads % gpus == 0 or gpus % model.kv_heads == 0


def stated_backend(engine_args: Mapping[str, JsonValue]) -> str | None:
    """Return the backend that a phase's engine_args state, in capitals; vLLM reads `auto` and null as none."""
    config = engine_args.get("attention_config")
    stated = (engine_args.get("attention_backend"), config.get("backend") if isinstance(config, dict) else None)
    return next((name.upper() for name in stated if isinstance(name, str) and name.lower() != "auto"), None)


def common_backend(model: ModelRow, kv_cache_dtype: str) -> str:
    """Return a backend that runs on every GPU of the catalogue, to be stated on both sides."""
    if is_latent(model):
        return "TRITON_MLA"
    return "FLASHINFER" if kv_cache_dtype in FP8 else "FLASH_ATTN"


def default_backend(compute_capability: str, kv_cache_dtype: str, model: ModelRow) -> str | None:
    """Return the name of the backend that vLLM chooses, or none where the sources leave it open.

    Its name is a part of the hash by which two engines accept each other's KV cache.

    Args:
        compute_capability: NVIDIA's, such as "8.9".
        kv_cache_dtype: As in a specification.
        model: The model's row. Without a config.json it is taken to have plain attention.

    Source: vLLM 0.26.0 platforms/cuda.py, _get_backend_priorities; v1/attention/backends/ and its mla/:
    supports_compute_capability, supports_kv_cache_dtype, supports_sink, supports_mm_prefix, supports_head_size.
    """
    major = capability(compute_capability)[0]
    if is_latent(model):
        return None if is_sparse(model) else _latent_backend(major, kv_cache_dtype)
    heads = _head_sizes(model)
    if model.architecture in _BOTH_DIRECTIONS or _has_unequal_heads(model) or max(heads, default=0) > _LARGEST_HEAD:
        return None
    if _has_sinks(model):
        return _backend_with_sinks(major, kv_cache_dtype)
    if major == 10 or (kv_cache_dtype in FP8 and (major != 9 or kv_cache_dtype == "fp8_e5m2")):
        return "FLASHINFER" if heads <= _FLASHINFER_HEADS else None
    return "FLASH_ATTN"


def _latent_backend(major: int, kv_cache_dtype: str) -> str:
    if major == 9:
        return "FLASHMLA" if kv_cache_dtype in FP8 else "FLASH_ATTN_MLA"
    return "FLASHINFER_MLA" if major == 10 else "TRITON_MLA"


def _backend_with_sinks(major: int, kv_cache_dtype: str) -> str | None:
    if major == 10:
        return "FLASHINFER"
    if kv_cache_dtype in FP8:
        return "FLASH_ATTN" if major == 9 and kv_cache_dtype != "fp8_e5m2" else None
    return "FLASH_ATTN" if major == 9 else "TRITON_ATTN"


def _has_sinks(model: ModelRow) -> bool:
    return model.facts is not None and any(group.component.endswith(".sinks") for group in model.facts.weights)


def _head_sizes(model: ModelRow) -> set[int]:
    """Return the sizes of its key heads; of a model without a config.json they are not known and count as usual."""
    return {cache.key_dim for cache in model.facts.caches} if model.facts is not None else set()


def _has_unequal_heads(model: ModelRow) -> bool:
    return model.facts is not None and any(cache.key_dim != cache.value_dim for cache in model.facts.caches)
