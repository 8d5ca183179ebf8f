"""The numbers of the rules about GPU memory, term by term."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import Fit, context_tokens, settled
from constructs_pd.planning.gpu_memory import GIB

ARITHMETIC: Final = (
    "per GPU: usable = memory as CUDA counts it x gpu_memory_utilization; KV cache = usable - weights - activations - "
    "outside PyTorch - CUDA graphs; requests = KV cache / what one of the longest context takes >= concurrent_requests"
)
CONTEXT_ARITHMETIC: Final = (
    "served context = the model's max_position_embeddings, or in multiples of 16 what concurrent_requests of both "
    "phases leave room for, whichever is less"
)


def worked(facts: Facts) -> Iterator[str]:
    """Yield where the memory of a GPU of each phase goes."""
    for phase in facts.phases:
        found = settled(facts, phase)
        if found is None:
            yield f"{phase.name}: not known, see PD225"
        else:
            yield from _terms(phase, found)


def worked_context(facts: Facts) -> Iterator[str]:
    """Yield the contexts of which the KV caches hold enough."""
    served, stated = context_tokens(facts), facts.spec.model.max_model_len
    if facts.model is None or served is None:
        yield f"{facts.spec.model.source} is not known, see PD205"
        return
    yield f"the model's context: {facts.model.max_position_embeddings:,} tokens"
    for phase in facts.phases:
        found = settled(facts, phase)
        room = "not known, see PD225" if found is None else f"{found.requests:,.1f} requests of {served:,} tokens"
        yield f"{phase.name}: {room}, {phase.spec.concurrent_requests} wanted"
    yield f"served: {served:,} tokens, {'as fits' if stated is None else 'as stated'}"


def _terms(phase: PhaseFacts, found: Fit) -> Iterator[str]:
    assert phase.instance is not None  # nothing is found without one
    budget, gpu = found.budget, phase.instance.gpu
    request = found.layout.bytes_per_request(found.context_tokens)
    yield f"{phase.name}: one of {found.shape.tensor_parallel} x {gpu.name} on {phase.instance.instance_type}"
    yield f"    {_gib(budget.usable)}  usable = {_gib(budget.total).lstrip()} x {found.gpu_memory_utilization:g}"
    yield f"  - {_gib(budget.weights)}  weights"
    yield f"  - {_gib(budget.activations)}  activations"
    yield f"  - {_gib(budget.outside_pytorch)}  outside PyTorch"
    yield f"  - {_gib(budget.graphs)}  CUDA graphs"
    yield f"  = {_gib(budget.kv_cache)}  KV cache"
    yield (
        f"    {_gib(request)}  a request of {found.context_tokens:,} tokens: room for {found.requests:,.1f}, "
        f"{phase.spec.concurrent_requests} wanted"
    )


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:8,.2f} GiB"
