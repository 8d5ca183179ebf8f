"""How vLLM divides a GPU's memory: weights, the peak of a profiling run, what is outside PyTorch, graphs, KV cache.

Source: vLLM 0.26.0 v1/worker/gpu_worker.py, determine_available_memory. What it measures at start-up is estimated here;
docs/memory.md compares the estimates with published start-up logs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.catalog.rows import EngineMemoryRow
from constructs_pd.planning.models.facts import ModelFacts, WeightGroup

GIB: Final = 1024**3
_ELEMENT_BYTES: Final = 2  # of activations, in bfloat16 and float16
_LOGIT_BYTES: Final = 4


@dataclass(frozen=True, slots=True)
class EngineShape:
    """What the profiling run depends on.

    Attributes:
        tensor_parallel: GPUs of an engine.
        max_num_seqs: Sequences of a step.
        max_num_batched_tokens: Tokens of a step.
        is_eager: Whether CUDA graphs are off.
    """

    tensor_parallel: int
    max_num_seqs: int
    max_num_batched_tokens: int
    is_eager: bool


@dataclass(frozen=True, slots=True)
class MemoryBudget:
    """Where the memory of one GPU goes, in bytes.

    Attributes:
        total: What the GPU has, as CUDA counts it.
        usable: What vLLM may take: gpu_memory_utilization of it.
        weights: Weights.
        activations: The peak of the profiling run.
        outside_pytorch: Communicators and libraries.
        graphs: CUDA graphs, as far as vLLM sets memory aside for them.
    """

    total: int
    usable: int
    weights: int
    activations: int
    outside_pytorch: int
    graphs: int

    @property
    def kv_cache(self) -> int:
        """What is left for the KV cache; negative where nothing is."""
        return self.usable - self.weights - self.activations - self.outside_pytorch - self.graphs


def memory_budget(
    facts: ModelFacts | None,
    shape: EngineShape,
    *,
    total_bytes: int,
    gpu_memory_utilization: float,
    weight_bytes: int,
    estimates: EngineMemoryRow,
) -> MemoryBudget:
    """Return where a GPU's memory goes.

    Args:
        facts: The model, or none where its sizes are stated by hand.
        shape: The engine.
        total_bytes: The GPU's memory as CUDA counts it.
        gpu_memory_utilization: The share that vLLM may take.
        weight_bytes: Weights on the GPU.
        estimates: What is measured only at start-up, as far as logs tell.
    """
    return MemoryBudget(
        total=total_bytes,
        usable=int(total_bytes * gpu_memory_utilization),
        weights=weight_bytes,
        activations=_activations(facts, shape, estimates)
        if facts is not None
        else round(estimates.unknown_activations_gib * GIB),
        outside_pytorch=_outside_pytorch(shape.tensor_parallel, estimates),
        graphs=_graphs(facts, shape, estimates) if facts is not None else 0,
    )


def _activations(facts: ModelFacts, shape: EngineShape, estimates: EngineMemoryRow) -> int:
    """Return the larger of the two phases of the profiling run: a step's layers, and sampling from its logits."""
    copies = estimates.logit_copies if _has_old_runner(facts) else estimates.logit_copies_v2
    rows = min(shape.max_num_seqs, shape.max_num_batched_tokens)
    sampling = copies * rows * _one(facts, "embed_tokens").rows * _LOGIT_BYTES
    vision = round(estimates.vision_gib * GIB) if _has(facts, "visual") else 0
    return round(max(sampling, _forward(facts, shape))) + vision + round(estimates.activation_margin_gib * GIB)


def _forward(facts: ModelFacts, shape: EngineShape) -> float:
    tokens, hidden = shape.max_num_batched_tokens, _one(facts, "embed_tokens").columns
    dense = [group.rows for group in facts.weights if group.component == "mlp.up_proj"]
    widest = max(dense, default=0) / shape.tensor_parallel
    per_token = 3 * (hidden + widest)
    experts = [group for group in facts.weights if group.component.endswith("experts") and group.split == "columns"]
    if experts:
        inner = experts[0].columns / shape.tensor_parallel
        chosen = facts.experts_per_token
        per_token = max(per_token, chosen * (max(2 * inner, hidden) + max(inner, hidden)) + hidden)
    return tokens * per_token * _ELEMENT_BYTES


def _outside_pytorch(tensor_parallel: int, estimates: EngineMemoryRow) -> int:
    known = estimates.outside_pytorch_gib
    nearest = max(size for size in known if size <= tensor_parallel)
    return round(known[nearest] * GIB)


def _graphs(facts: ModelFacts, shape: EngineShape, estimates: EngineMemoryRow) -> int:
    """Return what is set aside for CUDA graphs: by vLLM's first model runner only."""
    if shape.is_eager or not _has_old_runner(facts):
        return 0
    return round(estimates.graphs_gib * GIB)


def _has_old_runner(facts: ModelFacts) -> bool:
    """Return whether vLLM runs the model with its first runner: hybrid models, and most with experts.

    Source: vLLM 0.26.0 config/vllm.py, use_v2_model_runner.
    """
    return bool(facts.states) or _has(facts, "experts")


def _has(facts: ModelFacts, part: str) -> bool:
    return any(part in group.component for group in facts.weights)


def _one(facts: ModelFacts, component: str) -> WeightGroup:
    return next(group for group in facts.weights if group.component == component)
