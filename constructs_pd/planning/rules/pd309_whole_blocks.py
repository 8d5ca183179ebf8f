"""PD309: the engine's share of a block-quantized model is whole blocks."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.attention import splits_over
from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.facts import Facts, PhaseFacts
from constructs_pd.planning.models import ModelFacts
from constructs_pd.planning.models.blocks import BrokenBlock, broken_blocks
from constructs_pd.planning.rules.changed import holds, with_phases
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose GPUs would get parts of the blocks that share a scale."""
    model, known = facts.model, facts.model.facts if facts.model else None
    if model is None or known is None:
        return
    for phase in facts.phases:
        size = phase.tensor_parallel
        broken = broken_blocks(known, size, expert_parallel=_keeps_experts_whole(phase)) if size else ()
        if size and broken:
            first = broken[0]
            yield Violation(
                f"{phase.name}.tensor_parallel",
                f"each of {size} GPUs gets {first.share:,g} of the {first.size:,} rows or columns of "
                f"{first.component} of {model.model}, whose blocks have {first.block}",
                _remedy(facts, model, known, phase, size, broken),
            )


def _keeps_experts_whole(phase: PhaseFacts) -> bool:
    return phase.spec.engine_args.get("enable_expert_parallel") is True


def _remedy(
    facts: Facts, model: ModelRow, known: ModelFacts, phase: PhaseFacts, size: int, broken: tuple[BrokenBlock, ...]
) -> str:
    ways = []
    smaller = (
        gpus
        for gpus in range(size - 1, 0, -1)
        if _works(model, known, phase, gpus)
        and holds(with_phases(facts, {phase.name: {"tensor_parallel": gpus}}), [phase.name])
    )
    largest = next(smaller, None)
    if largest is not None:
        ways.append(f"state {phase.name}.tensor_parallel: {largest}, the largest that works; left out, it is every GPU")
    # Experts that are no whole blocks themselves stay so.
    if any(block.is_expert for block in broken) and not broken_blocks(known, size, expert_parallel=True):
        ways.append(f"state enable_expert_parallel: true in {phase.name}.engine_args, which keeps experts whole")
    return ", or ".join(ways) or "choose another checkpoint of the model, or other instance types"


def _works(model: ModelRow, known: ModelFacts, phase: PhaseFacts, gpus: int) -> bool:
    """Return whether the heads split over so many GPUs (PD209), and the blocks too."""
    return splits_over(model, gpus) and not broken_blocks(known, gpus, expert_parallel=_keeps_experts_whole(phase))


RULE = Rule(
    code="PD309",
    severity=Severity.ERROR,
    title="The engine's share of a block-quantized model is whole blocks",
    rationale="Numbers of a block share a scale: vLLM refuses to load the model, after the weights are there.",
    source="vLLM 0.26.0 model_executor/layers/quantization/fp8.py, Fp8MoEMethod.create_weights; its "
    "utils/fp8_utils.py, validate_fp8_block_shape; layers/linear.py, _maybe_allow_fp8_block_shape_mismatch",
    check=check,
)
