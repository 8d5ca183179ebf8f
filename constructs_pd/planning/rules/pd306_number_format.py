"""PD306: the GPUs run the number format of the checkpoint."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.compute_capability import capability
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# ModelOpt's names of its FP8 checkpoints. Others fall back to kernels that widen the weights.
FORMATS: Final = ("FP8", "FP8_PER_CHANNEL_PER_TOKEN", "FP8_PB_WO")
LEAST: Final = (8, 9)


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose GPUs are older than a ModelOpt FP8 checkpoint needs."""
    known = facts.model.facts if facts.model else None
    if known is None or known.quantization not in FORMATS:
        return
    for phase in facts.phases:
        gpu = phase.instance.gpu if phase.instance else None
        if gpu is None:
            continue
        if capability(gpu.compute_capability) < LEAST:
            yield Violation(
                f"{phase.name}.instance_type",
                f"{gpu.name} has compute capability {gpu.compute_capability}, vLLM runs a ModelOpt "
                f"{known.quantization} checkpoint from 8.9",
                "choose an instance type with L4, L40S, H100 or newer GPUs, or another checkpoint of the model",
            )


RULE = Rule(
    code="PD306",
    severity=Severity.ERROR,
    title="The GPUs run the number format of the checkpoint",
    rationale="The engine refuses to start, after image and weights are there.",
    source="vLLM 0.26.0 model_executor/layers/quantization/modelopt.py, ModelOptFp8Config.get_min_capability",
    check=check,
)
