"""Engines that would serve both phases on the same nodes, tuned as somebody would who serves them so.

How the phases are tuned says nothing of that: a prefill engine without CUDA graphs is sound, an aggregated one is not.
So nothing is taken over but the nodes and the model. CUDA graphs are on, prompts are taken in chunks, and as many
requests are answered at once as the memory holds, or fewer. Which is left to the caller, who knows the targets.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from constructs_pd.planning.attention import splits_over
from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import fit_on
from constructs_pd.planning.models.blocks import broken_blocks
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.engines import engine_of
from constructs_pd.planning.performance.latency import Requests
from constructs_pd.planning.performance.roofline import Engine
from constructs_pd.planning.spec_pods import Phase

# Of max_num_batched_tokens: 512, vLLM's first default with chunks (vllm-project/vllm#4580); 2048, as its documentation
# advises for the time between tokens; 8192, its default on large GPUs; 16384, the documentation's example (vLLM
# docs/configuration/optimization.md, read on 2026-11-30); and what lies between.
STEP_TOKENS: Final = (512, 1024, 2048, 4096, 8192, 16384)
# Of max_num_seqs: vLLM's default on large GPUs, and halves of it.
SEQUENCES: Final = (1024, 512, 256, 128, 64, 32, 16)
# As many as fit are tried, and a part of them: where a step reads a full KV cache, the chunks in it take long.
_PARTS: Final = (1, 4)


def aggregated_of(facts: Facts, instance: InstanceRow, nodes: int, requests: Requests) -> Iterator[Aggregated]:
    """Yield what could serve both phases on nodes, one entry for each size of an engine and of a chunk.

    Args:
        facts: The model, its image and the catalogue.
        instance: The nodes' instance type.
        nodes: How many there are.
        requests: What is served.
    """
    gpus = instance.gpu.count
    for size in (size for size in range(1, gpus + 1) if gpus % size == 0 and _divides(facts, size)):
        for step_tokens in STEP_TOKENS:
            engine = _roomiest(facts, instance, size, step_tokens, requests)
            if engine is not None:
                for sequences in _fewer(engine):
                    yield Aggregated(replace(engine, sequences=sequences), nodes * (gpus // size))


def _roomiest(
    facts: Facts, instance: InstanceRow, tensor_parallel: int, step_tokens: int, requests: Requests
) -> Engine | None:
    """Return the engine that answers most requests at once: each takes memory for its logits, and for its KV cache."""
    found: Engine | None = None
    for sequences in SEQUENCES:
        tuned = Phase(
            instance_type=instance.instance_type,
            tensor_parallel=tensor_parallel,
            max_num_seqs=sequences,
            max_num_batched_tokens=step_tokens,
        )
        fit = fit_on(facts, PhaseFacts("decode", tuned, instance), instance, tensor_parallel)
        if fit is None or fit.requests < tuned.concurrent_requests:  # vLLM does not start, as PD203 says
            continue
        engine = engine_of(facts, fit, instance, requests)
        if engine is not None and (found is None or engine.sequences > found.sequences):
            found = engine
        if found is not None and found.sequences >= sequences:
            break
    return found


def _fewer(engine: Engine) -> Iterator[int]:
    """Yield how many requests an engine answers at once: as many as fit, and fewer, which hold prompts up less."""
    sequences = min(engine.sequences, engine.step_tokens // 2)
    yield from (sequences // part for part in _PARTS if sequences >= part)


def _divides(facts: Facts, size: int) -> bool:
    """Return whether a model divides over so many GPUs: its heads, as PD209 asks, and its blocks, as PD309 does."""
    model = facts.model
    if model is None or model.facts is None or broken_blocks(model.facts, size):
        return False
    return splits_over(model, size)
