"""PD203: the model and the promised requests fit the GPUs."""

from collections.abc import Iterator
from math import floor
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.fit import Fit, fit_on, settled
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.rules import memory_terms
from constructs_pd.planning.rules.changed import errors, holds, is_carried, on_nodes, size_text, with_phases
from constructs_pd.planning.rules.rule import Rule, Violation

# How many other nodes a remedy names.
MOST_NAMED: Final = 3
TUNING: Final = ("gpu_memory_utilization", "max_num_seqs", "max_num_batched_tokens")


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
                f"weights {_gib(budget.weights)} GiB and {_gib(taken - budget.weights)} GiB beside them leave too "
                f"little for the KV cache of {_gib(budget.usable)} GiB usable per GPU on {where}",
                _remedy(facts, phase, found),
            )
        elif found.requests < wanted:
            needed = found.layout.bytes_per_request(found.context_tokens) * wanted
            requests = "1 request" if wanted == 1 else f"{wanted:,} requests"
            yield Violation(
                f"{phase.name}.concurrent_requests" if wanted > 1 else "model.max_model_len",
                f"{requests} of {found.context_tokens:,} tokens in {phase.name} need {needed / GIB:.2f} GiB of KV "
                f"cache per GPU on {where}, {budget.kv_cache / GIB:.2f} GiB are left: room for "
                f"{floor(found.requests * 10) / 10}",
                _remedy(facts, phase, found),
            )


def _is_too_long(facts: Facts, found: Fit) -> bool:
    """Return whether the context is longer than the model's: PD207 speaks of that."""
    is_stretched = any(phase.spec.engine_args.get("hf_overrides") for phase in facts.phases)
    return not is_stretched and facts.model is not None and found.context_tokens > facts.model.max_position_embeddings


def _remedy(facts: Facts, phase: PhaseFacts, found: Fit) -> str:
    changes = [*_lower(facts, phase, found), *_other_settings(facts, phase), *_larger_engines(facts, phase, found)]
    return ", or ".join(changes) or ("choose a smaller model, one with quantized weights, or a zone with larger nodes")


def _lower(facts: Facts, phase: PhaseFacts, found: Fit) -> list[str]:
    """Return smaller promises that are kept, the nearest first; no context below the stated prompts."""
    wanted = phase.spec.concurrent_requests
    prompts = facts.spec.traffic.prompt_tokens if facts.spec.traffic else 0
    longest, alone = found.longest(wanted), found.longest(1)
    changes = [f"lower max_model_len to {longest:,}"] if longest > prompts else []
    if found.requests >= 1:
        changes.append(f"lower {phase.name}.concurrent_requests to {int(found.requests)}")
    elif alone > prompts and not longest:
        changes.append(f"lower max_model_len to {alone:,} and concurrent_requests to 1")
    return changes


def _other_settings(facts: Facts, phase: PhaseFacts) -> list[str]:
    """Return settings of the engine with which it fits: those that are stated left out, or no CUDA graphs."""
    stated = [name for name in TUNING if getattr(phase.spec, name) is not None]
    free = dict.fromkeys(stated)
    if stated and holds(with_phases(facts, {phase.name: free}), [phase.name]):
        return [f"leave out {' and '.join(stated)} of {phase.name}"]
    if phase.spec.enforce_eager or not holds(with_phases(facts, {phase.name: {"enforce_eager": True}}), [phase.name]):
        return []
    return [f"set {phase.name}.enforce_eager to true"]


def _larger_engines(facts: Facts, phase: PhaseFacts, found: Fit) -> list[str]:
    """Return whole nodes on which it fits, one of each kind, those with the least GPU memory first."""
    nodes = sorted(
        facts.catalog.instances.values(),
        key=lambda row: (row.gpu.count * row.gpu.memory_mib, row.gpu.count, row.vcpus, row.instance_type),
    )
    present = errors(facts)
    named: dict[tuple[str, int, int], str] = {}
    for row in nodes:
        kind = (row.gpu.name, row.gpu.memory_mib, row.gpu.count)
        if len(named) == MOST_NAMED:
            break
        if row.gpu.count < found.shape.tensor_parallel or kind in named:
            continue
        alone = fit_on(facts, phase, row, row.gpu.count)
        if alone is None or alone.requests < phase.spec.concurrent_requests:
            continue
        for phases, where in (((phase,), f"in {phase.name}"), (facts.phases, "in both phases")):
            changed = on_nodes(facts, phases, row)
            if holds(changed, [one.name for one in phases]) and is_carried(changed) and errors(changed) <= present:
                named[kind] = f"choose {row.instance_type}{size_text(phases, row.gpu.count)} {where}"
                break
    return list(named.values())


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
