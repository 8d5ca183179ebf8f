"""PD203: the model and the promised requests fit the GPUs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import Fit, fit_on, settled
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.rules import memory_terms
from constructs_pd.planning.rules.rule import Rule, Violation

# How many other nodes a remedy names.
MOST_NAMED: Final = 3


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose weights do not fit, or whose KV cache holds too few requests."""
    for phase in facts.phases:
        found = settled(facts, phase)
        if found is None or phase.instance is None or _is_too_long(facts, found):
            continue
        wanted, budget = phase.spec.concurrent_requests, found.budget
        where = f"{phase.instance.instance_type} ({found.shape.tensor_parallel} x {phase.instance.gpu.name})"
        taken = budget.usable - budget.kv_cache
        if found.longest(1) == 0:
            yield Violation(
                f"{phase.name}.instance_type",
                f"weights {_gib(budget.weights)} GiB and {_gib(taken - budget.weights)} GiB beside them leave "
                f"{_gib(budget.kv_cache)} GiB of {_gib(budget.usable)} GiB usable per GPU on {where} for the KV cache",
                _remedy(facts, phase, found),
            )
        elif found.requests < wanted:
            needed = found.layout.bytes_per_request(found.context_tokens) * wanted
            yield Violation(
                f"{phase.name}.concurrent_requests" if wanted > 1 else "model.max_model_len",
                f"{wanted} requests of {found.context_tokens:,} tokens need {_gib(needed)} GiB of KV cache per GPU on "
                f"{where}, {_gib(budget.kv_cache)} GiB are left: room for {found.requests:.1f}",
                _remedy(facts, phase, found),
            )


def _is_too_long(facts: Facts, found: Fit) -> bool:
    """Return whether the context is longer than the model's: PD207 speaks of that."""
    is_stretched = any(phase.spec.engine_args.get("hf_overrides") for phase in facts.phases)
    return not is_stretched and facts.model is not None and found.context_tokens > facts.model.max_position_embeddings


def _remedy(facts: Facts, phase: PhaseFacts, found: Fit) -> str:
    wanted = phase.spec.concurrent_requests
    longest, alone = found.longest(wanted), found.longest(1)
    changes = [f"lower max_model_len to {longest:,}"] if longest else []
    if found.requests >= 1:
        changes.append(f"lower concurrent_requests to {int(found.requests)}")
    elif alone and not longest:
        changes.append(f"lower max_model_len to {alone:,} and concurrent_requests to 1")
    changes += _left_open(facts, phase)
    changes += _larger_engines(facts, phase, found)
    return ", or ".join(changes) or "choose a smaller model, or one with quantized weights"


def _left_open(facts: Facts, phase: PhaseFacts) -> list[str]:
    """Return the stated arguments without which it fits."""
    stated = [name for name in ("gpu_memory_utilization", "max_num_seqs") if getattr(phase.spec, name) is not None]
    free = replace(phase, spec=phase.spec.model_copy(update=dict.fromkeys(stated)))
    return [f"leave out {' and '.join(stated)}"] if stated and _holds(settled(facts, free), phase) else []


def _larger_engines(facts: Facts, phase: PhaseFacts, found: Fit) -> list[str]:
    """Return whole nodes on which it fits, one of each kind, those with the least GPU memory first."""
    model, stated = facts.model, phase.spec.tensor_parallel
    assert model is not None  # nothing fits or not without one
    nodes = sorted(
        facts.catalog.instances.values(),
        key=lambda row: (row.gpu.count * row.gpu.memory_mib, row.gpu.count, row.vcpus, row.instance_type),
    )
    named: dict[tuple[str, int, int], str] = {}
    for row in nodes:
        gpus, kind = row.gpu.count, (row.gpu.name, row.gpu.memory_mib, row.gpu.count)
        if len(named) == MOST_NAMED:
            break
        if gpus < found.shape.tensor_parallel or model.attention_heads % gpus or kind in named:
            continue
        if _holds(fit_on(facts, phase, row, gpus), phase):
            named[kind] = f"choose {row.instance_type}" + (
                f" with tensor_parallel {gpus}" if stated not in (None, gpus) else ""
            )
    return list(named.values())


def _holds(other: Fit | None, phase: PhaseFacts) -> bool:
    return other is not None and other.requests >= phase.spec.concurrent_requests


def _gib(size_bytes: int) -> str:
    return f"{size_bytes / GIB:.1f}"


RULE = Rule(
    code="PD203",
    severity=Severity.ERROR,
    title="The model and the promised requests fit the GPUs",
    rationale="vLLM refuses to start after the image and the weights were downloaded.",
    source="vLLM 0.26.0 v1/worker/gpu_worker.py and v1/core/kv_cache_utils.py; docs/memory.md",
    check=check,
    arithmetic=memory_terms.ARITHMETIC,
    worked=memory_terms.worked,
)
