"""PD230: vLLM may take no more of a GPU's memory than is free when it starts."""

from collections.abc import Iterator
from math import floor

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each stated share that leaves less than CUDA takes itself."""
    if facts.engine_memory is None:
        return
    for phase in facts.phases:
        share, taken = phase.spec.gpu_memory_utilization, facts.engine_memory.taken_gib
        memory = facts.catalog.memory_of(phase.instance.gpu) if phase.instance else None
        if share is None or memory is None or memory.usable_gib * (1 - share) >= taken:
            continue
        most = floor((1 - taken / memory.usable_gib) * 100) / 100
        yield Violation(
            f"{phase.name}.gpu_memory_utilization",
            f"{share:g} of {memory.usable_gib:g} GiB is {share * memory.usable_gib:.2f} GiB, and "
            f"{memory.usable_gib - taken:.2f} GiB are free at most when the engine starts",
            f"lower it to {most:g} or less, or leave it out",
        )


RULE = Rule(
    code="PD230",
    severity=Severity.ERROR,
    title="vLLM may take no more of a GPU's memory than is free",
    rationale="vLLM refuses to start: free memory on the device is less than the desired share.",
    source="vLLM 0.26.0 v1/worker/utils.py, request_memory; the catalogue, engine_memory.yaml",
    check=check,
    arithmetic="memory as CUDA counts it x (1 - gpu_memory_utilization) >= what CUDA takes before the engine starts",
)
