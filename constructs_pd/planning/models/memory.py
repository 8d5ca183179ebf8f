"""What a model takes of a GPU's memory under tensor parallel, as vLLM 0.26.0 allocates it.

A size that does not divide is another rule's business (PD209): parts are rounded up here, so nothing is ever too small.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.models.errors import ModelConfigError, shown
from constructs_pd.planning.models.facts import ModelFacts, WeightGroup
from constructs_pd.planning.models.layers import CacheGroup, CacheKind, StateGroup
from constructs_pd.planning.models.weight_format import MXFP4, PLAIN

# vLLM 0.26.0 layers/vocab_parallel_embedding.py, DEFAULT_VOCAB_PADDING_SIZE.
_VOCABULARY_MULTIPLE: Final = 64
_ELEMENT_BYTES: Final = {"bfloat16": 2, "float16": 2, "fp8": 1, "fp8_e4m3": 1, "fp8_e5m2": 1}
# vLLM 0.26.0 v1/kv_cache_interface.py, MLAAttentionSpec: 512 in fp8, their scales, 64 in bfloat16.
_SPARSE_MLA_FP8_BYTES: Final = 656
_MOST_GPUS: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class WindowedKv:
    """What layers keep of the last tokens alone.

    Attributes:
        kind: sliding or chunked.
        window_tokens: The most tokens that a query looks back.
        bytes_per_token: Bytes of a token in all these layers together.
    """

    kind: CacheKind
    window_tokens: int
    bytes_per_token: int


def weight_bytes_per_gpu(
    facts: ModelFacts,
    tensor_parallel: int = 1,
    dtype: str = "auto",
    compute_capability: str | None = None,
) -> int:
    """Return the bytes of weights on each GPU: vLLM's "Model loading took", allocator and workspaces apart.

    Args:
        facts: The model.
        tensor_parallel: GPUs of an engine.
        dtype: The type of what is not converted, as in a specification: auto, bfloat16 or float16.
        compute_capability: NVIDIA's, such as "8.9"; it decides how far kernels round MXFP4 experts up. Where it is
            missing, nothing is rounded.

    Source: vLLM 0.26.0 layers/linear.py, layers/vocab_parallel_embedding.py, layers/fused_moe/.
    """
    gpus = _gpus(tensor_parallel)
    plain = PLAIN[facts.dtype if dtype == "auto" else dtype]
    total = 0
    for group in facts.weights:
        rows, columns = part_of_gpu(group, gpus)
        if group.format is MXFP4 and group.component.endswith("experts"):
            rows, columns = _rounded(group, rows, columns, compute_capability)
        total += group.count * group.copies * (group.format or plain).size_bytes(rows, columns)
    return total


def kv_bytes_per_token_per_gpu(facts: ModelFacts, tensor_parallel: int = 1, kv_cache_dtype: str = "auto") -> int:
    """Return the bytes that a token takes on each GPU in the layers that keep every token.

    Key/value heads are repeated where GPUs outnumber them; a latent vector stands whole on every GPU, and so do the
    keys of a sparse model's indexer.

    Args:
        facts: The model.
        tensor_parallel: GPUs of an engine.
        kv_cache_dtype: As in a specification: auto (the checkpoint's, else the model's type), bfloat16 or fp8.

    Source: vLLM 0.26.0 v1/kv_cache_interface.py, FullAttentionSpec and MLAAttentionSpec, real_page_size_bytes;
    utils/torch_utils.py, resolve_kv_cache_dtype_string.
    """
    gpus, element_bytes = _gpus(tensor_parallel), _element_bytes(facts, kv_cache_dtype)
    return sum(_cache_bytes(group, gpus, element_bytes) for group in facts.caches if group.window_tokens is None)


def windowed_kv_per_gpu(
    facts: ModelFacts, tensor_parallel: int = 1, kv_cache_dtype: str = "auto"
) -> tuple[WindowedKv, ...]:
    """Return what sliding and chunked layers take on each GPU, one entry for each kind of window.

    Source: vLLM 0.26.0 v1/kv_cache_interface.py, SlidingWindowSpec and ChunkedLocalAttentionSpec. A request holds the
    window, and while it is prefilled the tokens of the running batch too (max_admission_blocks_per_request).
    """
    gpus, element_bytes = _gpus(tensor_parallel), _element_bytes(facts, kv_cache_dtype)
    totals: dict[tuple[CacheKind, int], int] = {}
    for group in facts.caches:
        if group.window_tokens is not None:
            key = (group.kind, group.window_tokens)
            totals[key] = totals.get(key, 0) + _cache_bytes(group, gpus, element_bytes)
    return tuple(WindowedKv(kind, tokens, total) for (kind, tokens), total in totals.items())


def state_bytes_per_request_per_gpu(facts: ModelFacts, tensor_parallel: int = 1) -> int:
    """Return the bytes of one state of a request on each GPU: the convolution's and the recurrent one, of every layer.

    vLLM keeps one state for a request, and two where prefix caching runs in the mode `align`
    (v1/kv_cache_interface.py, MambaSpec.max_memory_usage_bytes). The padding of its pages to those of the attention
    layers is not in here.

    Source: vLLM 0.26.0 layers/mamba/mamba_utils.py, mamba2_state_shape, gated_delta_net_state_shape,
    _mamba_state_dtype.
    """
    gpus = _gpus(tensor_parallel)
    return sum(group.layers * _state_bytes(group, gpus, _ELEMENT_BYTES[facts.dtype]) for group in facts.states)


def cache_bytes_per_token(group: CacheGroup, facts: ModelFacts, tensor_parallel: int, kv_cache_dtype: str) -> int:
    """Return the bytes that a token takes on each GPU in all layers of a group."""
    return _cache_bytes(group, _gpus(tensor_parallel), _element_bytes(facts, kv_cache_dtype))


def state_bytes(group: StateGroup, facts: ModelFacts, tensor_parallel: int) -> int:
    """Return the bytes of one state of a request on each GPU in one layer of a group."""
    return _state_bytes(group, _gpus(tensor_parallel), _ELEMENT_BYTES[facts.dtype])


def _gpus(tensor_parallel: int) -> int:
    if not 1 <= tensor_parallel <= _MOST_GPUS:
        raise ModelConfigError("tensor_parallel", shown(tensor_parallel), "write a positive whole number")
    return tensor_parallel


def _element_bytes(facts: ModelFacts, kv_cache_dtype: str) -> int:
    dtype = (facts.kv_cache_dtype or facts.dtype) if kv_cache_dtype == "auto" else kv_cache_dtype
    if dtype not in _ELEMENT_BYTES:
        raise ModelConfigError("kv_cache_dtype", shown(dtype), f"known are auto, {', '.join(_ELEMENT_BYTES)}")
    return _ELEMENT_BYTES[dtype]


def _split(count: int, gpus: int) -> int:
    return -(-count // gpus)


def part_of_gpu(group: WeightGroup, gpus: int) -> tuple[int, int]:
    """Return the rows and columns of a matrix of a group that each GPU of an engine holds."""
    match group.split:
        case "rows":
            return _split(group.rows, gpus), group.columns
        case "columns":
            return group.rows, _split(group.columns, gpus)
        case "heads":
            return _split(group.heads, gpus) * (group.rows // group.heads), group.columns
        case "vocabulary":
            padded = _split(group.rows, _VOCABULARY_MULTIPLE) * _VOCABULARY_MULTIPLE
            return _split(padded, gpus), group.columns
    return group.rows, group.columns


def _rounded(group: WeightGroup, rows: int, columns: int, compute_capability: str | None) -> tuple[int, int]:
    """Round an expert's matrix up as the MXFP4 kernels do that vLLM chooses on a GPU.

    Source: vLLM 0.26.0 layers/fused_moe/oracle/mxfp4.py, _get_priority_backends_for_gpt_oss and
    mxfp4_round_up_hidden_size_and_intermediate_size: FlashInfer's TensorRT-LLM kernels on compute capability 10,
    Triton's on 9, Marlin's elsewhere. That Triton's layout rounds columns up to 256 is inferred from what vLLM reports
    on an H100 (vllm-project/vllm#33155: 64.38 GiB for gpt-oss-120b).
    """
    if compute_capability is None:
        return rows, columns
    major = capability(compute_capability)[0]
    if major == 9:
        return rows, _up(columns, 256)
    hidden, inner = (256, 256) if major == 10 else (256, 128)
    if group.split == "rows":  # both halves of the first projection
        return 2 * _up(_split(rows, 2), inner), _up(columns, hidden)
    return _up(rows, hidden), _up(columns, inner)


def _up(size: int, multiple: int) -> int:
    return _split(size, multiple) * multiple


def _cache_bytes(group: CacheGroup, gpus: int, element_bytes: int) -> int:
    if group.kind == "mla" and group.is_sparse and element_bytes == 1:
        return group.layers * _SPARSE_MLA_FP8_BYTES
    elements = _split(group.kv_heads, gpus) * (group.key_dim + group.value_dim)
    return group.layers * elements * (group.element_bytes or element_bytes)


def _state_bytes(group: StateGroup, gpus: int, element_bytes: int) -> int:
    # Where groups do not divide, every GPU gets those that its heads need.
    groups = group.groups if group.groups % gpus == 0 else max(gpus, group.groups)
    convolution = _split(group.conv_dim + groups * group.group_dim, gpus) * group.conv_tokens * element_bytes
    recurrent = _split(group.heads, gpus) * group.head_dim * group.state_dim
    return convolution + recurrent * (group.recurrent_element_bytes or element_bytes)
