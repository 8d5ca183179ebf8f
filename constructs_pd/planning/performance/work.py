"""What a step asks of one GPU of an engine, counted from the model's matrices and caches."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Final, Literal

from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.models.facts import ModelFacts, WeightGroup
from constructs_pd.planning.models.layers import CacheGroup
from constructs_pd.planning.models.memory import cache_bytes_per_token, part_of_gpu, state_bytes
from constructs_pd.planning.models.weight_format import MXFP4, NVFP4, PLAIN

Precision = Literal["half", "fp8", "fp4"]

# A multiplication and an addition for each weight and token.
_FLOPS_PER_WEIGHT: Final = 2
# Linear attention updates its state, decays it and reads it.
_FLOPS_PER_STATE_ELEMENT: Final = 6


@dataclass(frozen=True, slots=True)
class Matrices:
    """Matrices of one GPU that are multiplied in one precision.

    Attributes:
        precision: In which numbers the GPU multiplies.
        flops: Floating-point operations of a token that passes them.
        bytes: Bytes of them all.
        touched: The share of the experts that a token passes; 1 where every token passes all.
        of_answers: Whether only tokens pass that are answered with another: the output layer.
    """

    precision: Precision
    flops: float
    bytes: float
    touched: float = 1.0
    of_answers: bool = False

    def bytes_read(self, tokens: float) -> float:
        """Return the bytes that a step of so many tokens reads: of experts those that some token chooses."""
        if self.touched >= 1:
            return self.bytes
        return float(self.bytes * (1 - (1 - self.touched) ** tokens))


@dataclass(frozen=True, slots=True)
class Attention:
    """Equal layers in which tokens look at others, on one GPU.

    Attributes:
        prompt_flops: Floating-point operations of a pair of tokens of a prompt.
        answer_flops: The same of an answer's token and one before it; of latent attention they are more.
        bytes_per_token: Bytes that a token keeps in all these layers.
        window_tokens: How far a token looks back at most, or none.
    """

    prompt_flops: float
    answer_flops: float
    bytes_per_token: float
    window_tokens: int | None

    def seen(self, tokens: float) -> float:
        """Return how many of so many tokens are looked at."""
        return tokens if self.window_tokens is None else min(tokens, self.window_tokens)


@dataclass(frozen=True, slots=True)
class Work:
    """What a model asks of each GPU of an engine.

    Attributes:
        matrices: Its matrices.
        attention: Its attention layers.
        state_bytes: Bytes of a request's states, which every step reads and writes.
        state_flops: Floating-point operations of a token on them.
        layers: Its layers.
        hidden: Elements of a token between layers.
    """

    matrices: tuple[Matrices, ...]
    attention: tuple[Attention, ...]
    state_bytes: float
    state_flops: float
    layers: int
    hidden: int


def work_of(
    facts: ModelFacts,
    tensor_parallel: int,
    compute_capability: str,
    *,
    dtype: str = "auto",
    kv_cache_dtype: str = "auto",
) -> Work:
    """Return what a model asks of each GPU of an engine.

    The vision tower is left out: prompts are taken to be text.

    Args:
        facts: The model.
        tensor_parallel: GPUs of the engine.
        compute_capability: NVIDIA's, such as "8.9": it decides in which numbers quantized weights are multiplied.
        dtype: The type of weights that are not converted, as in a specification.
        kv_cache_dtype: The type of the KV cache, as in a specification.
    """
    groups = [group for group in facts.weights if _is_multiplied(group)]
    caches = [cache for cache in facts.caches if cache.kind != "indexer"]
    embedding = next(group for group in facts.weights if group.component == "embed_tokens")
    return Work(
        matrices=_matrices(facts, groups, tensor_parallel, compute_capability, dtype),
        attention=tuple(_attention(facts, cache, tensor_parallel, kv_cache_dtype) for cache in caches),
        state_bytes=sum(state.layers * state_bytes(state, facts, tensor_parallel) for state in facts.states),
        state_flops=sum(
            _FLOPS_PER_STATE_ELEMENT * state.layers * state.heads * state.head_dim * state.state_dim / tensor_parallel
            for state in facts.states
        ),
        layers=sum(cache.layers for cache in caches) + sum(state.layers for state in facts.states),
        hidden=embedding.columns,
    )


def _is_multiplied(group: WeightGroup) -> bool:
    """Return whether a text's tokens are multiplied with a group: vectors, embeddings and the vision tower are not."""
    is_matrix = group.columns > 1 and not group.component.startswith(("visual", "vision", "multi_modal"))
    return is_matrix and group.counted and group.component != "embed_tokens"


def _matrices(
    facts: ModelFacts, groups: list[WeightGroup], gpus: int, compute_capability: str, dtype: str
) -> tuple[Matrices, ...]:
    plain = PLAIN[facts.dtype if dtype == "auto" else dtype]
    totals: dict[tuple[Precision, float, bool], list[float]] = defaultdict(lambda: [0.0, 0.0])
    for group in groups:
        rows, columns = part_of_gpu(group, gpus)
        touched = min(1.0, facts.experts_per_token / group.copies) if group.component.endswith("experts") else 1.0
        total = totals[_precision(group, compute_capability), touched, group.component == "lm_head"]
        number = group.count * group.copies
        total[0] += _FLOPS_PER_WEIGHT * number * touched * rows * columns
        total[1] += number * (group.format or plain).size_bytes(rows, columns)
    if not any(group.component == "lm_head" for group in groups):
        total = totals["half", 1.0, True]
        embedding = next(group for group in facts.weights if group.component == "embed_tokens")
        rows, columns = part_of_gpu(embedding, gpus)
        total[0] += _FLOPS_PER_WEIGHT * rows * columns
        total[1] += plain.size_bytes(rows, columns)
    return tuple(
        Matrices(precision, flops, size, touched, of_answers)
        for (precision, touched, of_answers), (flops, size) in totals.items()
    )


def _precision(group: WeightGroup, compute_capability: str) -> Precision:
    """Return in which numbers a GPU multiplies a group: weights alone in fewer bits are widened first.

    Source: vLLM 0.26.0 layers/quantization/fp8.py (Marlin below 8.9); layers/fused_moe/oracle/mxfp4.py (MXFP4 weights
    with FP8 activations on compute capability 10, widened elsewhere); modelopt.py (NVFP4 from 10 on).
    """
    if group.format is None:
        return "half"
    newer = capability(compute_capability)
    if group.format is NVFP4:
        return "fp4" if newer[0] >= 10 else "half"
    if group.format is MXFP4:
        return "fp8" if newer[0] == 10 else "half"
    return "fp8" if group.format.name.startswith(("fp8", "mxfp8")) and newer >= (8, 9) else "half"


def _attention(facts: ModelFacts, cache: CacheGroup, gpus: int, kv_cache_dtype: str) -> Attention:
    heads = facts.outline.attention_heads / gpus
    prompt = answer = cache.key_dim + cache.value_dim
    if cache.kind == "mla":
        # In a prompt each head has keys and values of its own; in an answer all look at the latent vector itself.
        expanded = next(group for group in facts.weights if group.component.endswith("kv_b_proj"))
        rotary = cache.key_dim - expanded.columns
        prompt = expanded.rows // facts.outline.attention_heads + rotary
        answer = cache.key_dim + expanded.columns
    return Attention(
        prompt_flops=_FLOPS_PER_WEIGHT * cache.layers * heads * prompt,
        answer_flops=_FLOPS_PER_WEIGHT * cache.layers * heads * answer,
        bytes_per_token=cache_bytes_per_token(cache, facts, gpus, kv_cache_dtype),
        window_tokens=cache.window_tokens,
    )
