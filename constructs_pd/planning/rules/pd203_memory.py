"""PD203: the model and the promised requests fit the GPUs."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import InstanceRow
from constructs_pd.planning.facts import Facts, PhaseFacts, gather
from constructs_pd.planning.fit import Fit, fit_on, settled
from constructs_pd.planning.gpu_memory import GIB
from constructs_pd.planning.rules import memory_terms
from constructs_pd.planning.rules.rule import Rule, Violation
from constructs_pd.planning.spec_pods import Phase

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
                f"weights {_gib(budget.weights)} GiB and {_gib(taken - budget.weights)} GiB beside them leave too "
                f"little for the KV cache of {_gib(budget.usable)} GiB usable per GPU on {where}",
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
    return ", or ".join(changes) or "choose a smaller model, one with quantized weights, or a zone with larger nodes"


def _left_open(facts: Facts, phase: PhaseFacts) -> list[str]:
    """Return the stated arguments without which it fits."""
    stated = [name for name in ("gpu_memory_utilization", "max_num_seqs") if getattr(phase.spec, name) is not None]
    free = replace(phase, spec=phase.spec.model_copy(update=dict.fromkeys(stated)))
    return [f"leave out {' and '.join(stated)}"] if stated and _holds(settled(facts, free), phase) else []


def _larger_engines(facts: Facts, phase: PhaseFacts, found: Fit) -> list[str]:
    """Return whole nodes on which it fits, one of each kind, those with the least GPU memory first."""
    nodes = sorted(
        facts.catalog.instances.values(),
        key=lambda row: (row.gpu.count * row.gpu.memory_mib, row.gpu.count, row.vcpus, row.instance_type),
    )
    present = _errors(facts)
    named: dict[tuple[str, int, int], str] = {}
    for row in nodes:
        kind = (row.gpu.name, row.gpu.memory_mib, row.gpu.count)
        if len(named) == MOST_NAMED:
            break
        if row.gpu.count < found.shape.tensor_parallel or kind in named:
            continue
        if not _holds(fit_on(facts, phase, row, row.gpu.count), phase):
            continue
        for phases, where in (((phase,), ""), (facts.phases, " for both phases")):
            moved = _moved(facts, phases, row)
            if all(_holds(settled(moved, one), one) for one in moved.phases if where) and _errors(moved) <= present:
                size = "" if phase.spec.tensor_parallel in (None, row.gpu.count) else _parallel(row.gpu.count)
                named[kind] = f"choose {row.instance_type}{size}{where}"
                break
    return list(named.values())


def _parallel(gpus: int) -> str:
    return f" with tensor_parallel {gpus}"


def _moved(facts: Facts, phases: tuple[PhaseFacts, ...], row: InstanceRow) -> Facts:
    """Return the facts with phases on whole nodes of another type."""
    change = {"instance_type": row.instance_type, "tensor_parallel": row.gpu.count}
    moved: dict[str, Phase] = {phase.name: phase.spec.model_copy(update=change) for phase in phases}
    return gather(facts.spec.model_copy(update=moved), facts.built_in)


def _errors(facts: Facts) -> set[tuple[str, str]]:
    """Return the codes and subjects of what other rules refuse."""
    from constructs_pd.planning.rules import RULES  # which holds this rule

    return {
        (finding.code, finding.subject)
        for rule in RULES
        if rule.severity is Severity.ERROR and rule.code != RULE.code
        for finding in rule.findings(facts)
    }


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
