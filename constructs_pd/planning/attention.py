"""Which attention backend vLLM chooses on a GPU when nobody states one."""

from __future__ import annotations

from typing import Final

FP8: Final = ("fp8", "fp8_e4m3", "fp8_e5m2")


def default_backend(compute_capability: str, kv_cache_dtype: str) -> str:
    """Return the name of the backend for attention with a KV cache per head (not multi-head latent attention).

    Its name is a part of the hash by which two engines accept each other's KV cache.

    Args:
        compute_capability: NVIDIA's, such as "8.9".
        kv_cache_dtype: As in a specification.

    Source: vLLM 0.26.0 platforms/cuda.py, _get_backend_priorities; v1/attention/backends/flash_attn.py,
    supports_kv_cache_dtype.
    """
    major = int(compute_capability.partition(".")[0])
    if major == 10:
        return "FLASHINFER"
    if kv_cache_dtype in FP8 and (major != 9 or kv_cache_dtype == "fp8_e5m2"):
        return "FLASHINFER"
    return "FLASH_ATTN"
