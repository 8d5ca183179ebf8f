"""Whether a model fits a phase's GPUs, and what its KV cache then holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from pydantic import JsonValue

from constructs_pd.planning.catalog.rows import EngineMemoryRow, InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.footprint import footprint
from constructs_pd.planning.gpu_memory import GIB, EngineShape, MemoryBudget, memory_budget
from constructs_pd.planning.kv_layout import DEFAULT_BLOCK_TOKENS, KvGroup, KvLayout, kv_layout
from constructs_pd.planning.sizes import MIB_PER_GIB

# vLLM prepares a batch while another runs (v0.26.0 config/vllm.py, max_concurrent_batches).
BATCHES_AT_ONCE = 2
# Which have vLLM's smaller defaults whatever their memory.
SMALL_BATCH_GPUS = ("A100",)
# Overrides of a model's configuration that change its context and nothing that is counted.
CONTEXT_OVERRIDES = {"max_position_embeddings", "rope_parameters", "rope_scaling", "rope_theta"}
# The planner's own choice: halves of vLLM's default down to a batch that still keeps a GPU busy.
FEWER_SEQUENCES = (128, 64, 32, 16)


@dataclass(frozen=True, slots=True)
class Fit:
    """One GPU of a phase's engine.

    Attributes:
        gpu_memory_utilization: The share of the memory that vLLM may take.
        shape: What the engine is started with, vLLM's defaults included.
        budget: Where the GPU's memory goes.
        layout: How its KV cache is divided.
        context_tokens: The longest request.
        is_hybrid: Whether requests also hold states.
    """

    gpu_memory_utilization: float
    shape: EngineShape
    budget: MemoryBudget
    layout: KvLayout
    context_tokens: int
    is_hybrid: bool

    @property
    def requests(self) -> float:
        """How many of the longest requests the KV cache holds."""
        return self.layout.requests(self.budget.kv_cache, self.context_tokens)

    @property
    def tokens(self) -> int:
        """How many tokens it holds, in requests of the longest context."""
        return self.layout.tokens(self.budget.kv_cache, self.context_tokens)

    def longest(self, requests: int) -> int:
        """Return the longest context of which so many requests fit, up to the present one."""
        return self.layout.longest_request(self.budget.kv_cache, requests, self.context_tokens)


def fit(facts: Facts, phase: PhaseFacts) -> Fit | None:
    """Return how the model fits a phase with vLLM's defaults for what is not stated.

    None where a fact is missing: PD225 says which.
    """
    context = context_tokens(facts)
    if context is None:
        return None
    return next(_fits(facts, phase, phase.instance, phase.tensor_parallel, context), None)


def uncounted_arguments(facts: Facts, phase: PhaseFacts) -> list[str]:
    """Return the stated engine arguments that change what is needed in a way that is not estimated."""
    stated, estimates = phase.spec.engine_args, facts.engine_memory
    named = sorted(set(stated) & set(estimates.uncounted_arguments)) if estimates else []
    overrides = stated.get("hf_overrides")
    if overrides and not (isinstance(overrides, dict) and overrides.keys() <= CONTEXT_OVERRIDES):
        named.append("hf_overrides")
    return named


def settled(facts: Facts, phase: PhaseFacts) -> Fit | None:
    """Return how the model fits a phase with what the planner chooses, for the context that is served."""
    if phase.instance is None or phase.tensor_parallel is None:
        return None
    return fit_on(facts, phase, phase.instance, phase.tensor_parallel)


def fit_on(facts: Facts, phase: PhaseFacts, instance: InstanceRow, tensor_parallel: int) -> Fit | None:
    """Return how the model would fit a phase on another instance type or more GPUs.

    What is not stated is chosen: vLLM's defaults where they hold the promised requests; else a larger share of the
    memory; then fewer sequences of a step, since each takes memory for its logits. Where nothing holds them, the
    roomiest is returned.
    """
    context, found = context_tokens(facts), None
    if context is None:
        return None
    for found in _fits(facts, phase, instance, tensor_parallel, context):
        if found.requests >= phase.spec.concurrent_requests:
            return found
    return found


def context_tokens(facts: Facts) -> int | None:
    """Return the longest request that is served: as stated, else the model's, else as much as fits both phases."""
    if facts.model is None:
        return None
    if facts.spec.model.max_model_len is not None:
        return facts.spec.model.max_model_len
    most = facts.model.max_position_embeddings
    longest = min(_longest(facts, phase, most) for phase in facts.phases)
    if longest >= most:
        return most
    return max(min(most, DEFAULT_BLOCK_TOKENS), longest // DEFAULT_BLOCK_TOKENS * DEFAULT_BLOCK_TOKENS)


def _longest(facts: Facts, phase: PhaseFacts, most: int) -> int:
    """Return the longest context that a phase holds, up to a bound."""
    if has_chunked_prefill(phase):
        return _longest_of(facts, phase, most, most)
    # A whole prompt is one step, so the longer the context, the more memory a step takes.
    low, high = 0, min(most, phase.spec.max_num_batched_tokens or most)
    while low < high:
        middle = (low + high + 1) // 2
        if _longest_of(facts, phase, middle, middle) >= middle:
            low = middle
        else:
            high = middle - 1
    return low


def _longest_of(facts: Facts, phase: PhaseFacts, context: int, most: int) -> int:
    """Return the same with as many sequences as vLLM's default, or with fewer where those hold none."""
    fits = list(_fits(facts, phase, phase.instance, phase.tensor_parallel, context))
    if not fits:
        return most
    usual = [found for found in fits if found.shape.max_num_seqs == fits[0].shape.max_num_seqs]
    wanted = phase.spec.concurrent_requests
    return max(found.longest(wanted) for found in usual) or max(found.longest(wanted) for found in fits)


def has_chunked_prefill(phase: PhaseFacts) -> bool:
    """Return whether an engine may take a prompt in several steps, as vLLM does where nothing is said."""
    return phase.spec.engine_args.get("enable_chunked_prefill") is not False


def _fits(
    facts: Facts, phase: PhaseFacts, instance: InstanceRow | None, gpus: int | None, context: int
) -> Iterator[Fit]:
    """Yield how the model fits a phase, from vLLM's defaults to what is roomiest; nothing where a fact is missing."""
    model, estimates = facts.model, facts.engine_memory
    if uncounted_arguments(facts, phase):
        return
    if model is None or estimates is None or instance is None or gpus is None or gpus > instance.gpu.count:
        return
    gpu = facts.catalog.memory_of(instance.gpu)
    stated, known = facts.spec.model, model.facts if model.sizes is None else None
    size = footprint(
        model,
        gpus,
        dtype=stated.dtype,
        kv_cache_dtype=stated.kv_cache_dtype,
        compute_capability=instance.gpu.compute_capability,
    )
    if gpu is None or size is None:
        return
    for utilization, shape in _settings(phase, context, instance, gpus, estimates, gpu.usable_gib):
        block = phase.spec.engine_args.get("block_size")
        yield Fit(
            gpu_memory_utilization=utilization,
            shape=shape,
            budget=memory_budget(
                known,
                shape,
                total_bytes=int(gpu.usable_gib * GIB),
                gpu_memory_utilization=utilization,
                weight_bytes=size.weight_bytes,
                estimates=estimates,
            ),
            layout=kv_layout(
                known,
                tensor_parallel=gpus,
                kv_cache_dtype=stated.kv_cache_dtype,
                in_flight_tokens=BATCHES_AT_ONCE * shape.max_num_batched_tokens,
                compute_capability=instance.gpu.compute_capability,
                block_tokens=block if isinstance(block, int) and block > 0 else None,
                states_per_request=2 if phase.spec.engine_args.get("enable_prefix_caching") else 1,
            )
            if known is not None
            else _by_hand(size.kv_bytes_per_token, size.state_bytes_per_request),
            context_tokens=context,
            is_hybrid=model.attention == "hybrid",
        )


def _settings(
    phase: PhaseFacts,
    context: int,
    instance: InstanceRow,
    tensor_parallel: int,
    estimates: EngineMemoryRow,
    usable_gib: float,
) -> Iterator[tuple[float, EngineShape]]:
    """Yield shares of the memory and shapes, the roomier the later; what is stated stays."""
    shape = _shape(phase, context, instance, tensor_parallel, estimates)
    shares = [phase.spec.gpu_memory_utilization or estimates.gpu_memory_utilization]
    if phase.spec.gpu_memory_utilization is None:
        reserve = estimates.reserve_gib[max(size for size in estimates.reserve_gib if size <= tensor_parallel)]
        most = min(estimates.most_gpu_memory_utilization, 1 - reserve / usable_gib)
        shares += [share / 100 for share in range(round(shares[0] * 100) + 1, int(most * 100) + 1)]
    yield from ((share, shape) for share in shares)
    if phase.spec.max_num_seqs is None:
        for sequences in FEWER_SEQUENCES:
            if phase.spec.concurrent_requests <= sequences < shape.max_num_seqs:
                yield shares[-1], replace(shape, max_num_seqs=sequences)


def chosen_arguments(facts: Facts, phase: PhaseFacts) -> dict[str, JsonValue]:
    """Return max_num_seqs and gpu_memory_utilization: as stated, else what is not vLLM's default, else nothing."""
    stated: dict[str, JsonValue] = {
        "max_num_seqs": phase.spec.max_num_seqs,
        "gpu_memory_utilization": phase.spec.gpu_memory_utilization,
    }
    found, estimates = settled(facts, phase), facts.engine_memory
    if found is None or estimates is None or phase.instance is None:
        return stated
    chosen: dict[str, JsonValue] = {}
    sequences = min(found.shape.max_num_seqs, most_sequences(found))
    if sequences != min(usual_sequences(phase.instance, estimates), found.shape.max_num_batched_tokens):
        chosen["max_num_seqs"] = sequences
    if found.gpu_memory_utilization != estimates.gpu_memory_utilization:
        chosen["gpu_memory_utilization"] = found.gpu_memory_utilization
    return chosen | {name: value for name, value in stated.items() if value is not None}


def most_sequences(found: Fit) -> int:
    """Return the most sequences of a step for which there are states.

    With CUDA graphs vLLM refuses to start a hybrid model with more sequences than its cache has blocks.
    """
    if not found.is_hybrid or found.shape.is_eager:
        return found.shape.max_num_seqs
    return max(1, found.layout.blocks(found.budget.kv_cache))


def usual_sequences(instance: InstanceRow, estimates: EngineMemoryRow) -> int:
    """Return vLLM's default of max_num_seqs on a GPU."""
    return estimates.max_num_seqs[_has_large_defaults(instance, estimates)]


def step_tokens(phase: PhaseFacts, context: int, instance: InstanceRow, estimates: EngineMemoryRow) -> int:
    """Return the tokens of a step: as stated, else vLLM's default, which without chunked prefill is a whole prompt."""
    if phase.spec.max_num_batched_tokens is not None:
        return phase.spec.max_num_batched_tokens
    tokens = estimates.max_num_batched_tokens[_has_large_defaults(instance, estimates)]
    return tokens if has_chunked_prefill(phase) else max(tokens, context)


def _has_large_defaults(instance: InstanceRow, estimates: EngineMemoryRow) -> bool:
    gpu = instance.gpu
    return gpu.memory_mib >= estimates.large_gpu_gib * MIB_PER_GIB and gpu.name not in SMALL_BATCH_GPUS


def _shape(
    phase: PhaseFacts, context: int, instance: InstanceRow, tensor_parallel: int, estimates: EngineMemoryRow
) -> EngineShape:
    tokens = step_tokens(phase, context, instance, estimates)
    usual = max(usual_sequences(instance, estimates), phase.spec.concurrent_requests)
    return EngineShape(
        tensor_parallel=tensor_parallel,
        max_num_seqs=min(phase.spec.max_num_seqs or usual, tokens),
        max_num_batched_tokens=tokens,
        is_eager=phase.spec.enforce_eager,
    )


def _by_hand(kv_bytes_per_token: int, state_bytes: int) -> KvLayout:
    """Return the layout of sizes that are stated by hand: a state counts as the blocks that hold as much."""
    block_bytes = DEFAULT_BLOCK_TOKENS * kv_bytes_per_token
    groups = [KvGroup("full", 1, DEFAULT_BLOCK_TOKENS)]
    if state_bytes:
        groups.append(KvGroup("state", 1, DEFAULT_BLOCK_TOKENS, states=-(-state_bytes // block_bytes)))
    return KvLayout(block_bytes, tuple(groups), 0)
