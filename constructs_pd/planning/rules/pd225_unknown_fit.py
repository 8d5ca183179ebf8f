"""PD225: it is known whether the model fits the GPUs."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import fit, uncounted_arguments
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase of which a fact is missing or changed."""
    if facts.model is None or facts.image is None:
        return
    for phase in facts.phases:
        if phase.instance is None or phase.tensor_parallel is None or phase.tensor_parallel > phase.instance.gpu.count:
            continue
        arguments = uncounted_arguments(facts, phase)
        if arguments:
            yield Violation(
                f"{phase.name}.engine_args.{arguments[0]}",
                f"whether {facts.model.model} fits {phase.instance.instance_type} is not known: {len(arguments)} "
                f"{'argument changes' if len(arguments) == 1 else 'arguments change'} what is counted: "
                f"{', '.join(arguments)}",
                "compare its weights and KV cache with the GPUs' memory yourself",
            )
        elif fit(facts, phase) is None:
            missing = _missing(facts, phase.instance.gpu.name)
            yield Violation(
                f"{phase.name}.instance_type",
                f"whether {facts.model.model} fits {phase.instance.instance_type} is not known, for want of 1 fact: "
                f"{missing}",
                "compare its weights and KV cache with the GPUs' memory yourself, or state the model's sizes",
            )


def _missing(facts: Facts, gpu: str) -> str:
    assert facts.model is not None
    assert facts.image is not None
    if facts.engine_memory is None:
        return f"how vLLM {facts.image.vllm_version} divides memory"
    if facts.model.sizes is None and facts.model.facts is None:
        return "the model's sizes"
    return f"how much memory of a {gpu} CUDA counts"


RULE = Rule(
    code="PD225",
    severity=Severity.WARNING,
    title="It is known whether the model fits the GPUs",
    rationale="vLLM refuses to start after the image and the weights were downloaded.",
    source="the catalogue, models.yaml, gpu_memory.yaml and engine_memory.yaml",
    check=check,
)
