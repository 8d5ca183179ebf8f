"""Which parts of a block-quantized model are no whole blocks, which vLLM refuses to load."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.models.facts import ModelFacts, WeightGroup

# What vLLM loads as one layer where the model has both.
_MERGED: Final = (
    frozenset({"q_proj", "k_proj", "v_proj"}),
    frozenset({"gate_proj", "up_proj"}),
    frozenset({"in_proj_qkv", "in_proj_z"}),
    frozenset({"in_proj_b", "in_proj_a"}),
)
# Its method for these checks each part of such a layer; the others let it pass.
_CHECKS_MERGED: Final = "compressed-tensors"


@dataclass(frozen=True, slots=True)
class BrokenBlock:
    """A kind of matrix of which a GPU would get parts of blocks.

    Attributes:
        component: What it is, such as mlp.experts.
        size: The rows or columns that are split; of gated experts those of one half.
        share: The rows or columns of a GPU; not whole where they do not divide.
        block: The rows or columns of a block.
        is_expert: Whether expert parallel would leave it whole.
    """

    component: str
    size: int
    share: float
    block: int
    is_expert: bool


def broken_blocks(facts: ModelFacts, tensor_parallel: int, *, expert_parallel: bool = False) -> tuple[BrokenBlock, ...]:
    """Return what an engine of so many GPUs would get no whole blocks of.

    vLLM checks experts on one GPU too, linear layers only where they are split. The rows of layers that it merges
    (queries, keys and values; gate and up) it checks in compressed-tensors checkpoints alone.

    Args:
        facts: The model.
        tensor_parallel: GPUs of an engine.
        expert_parallel: Whether each expert stands whole on one GPU.

    Source: vLLM 0.26.0 layers/quantization/fp8.py, Fp8MoEMethod.create_weights; its utils/fp8_utils.py,
    validate_fp8_block_shape; layers/linear.py, _maybe_allow_fp8_block_shape_mismatch;
    layers/fused_moe/config.py, FusedMoEParallelConfig.make.
    """
    names = {group.component for group in facts.weights}
    checked = [
        group
        for group in facts.weights
        if facts.quantization == _CHECKS_MERGED or group.split == "columns" or not _is_merged(group.component, names)
    ]
    found = (_broken(group, tensor_parallel, expert_parallel) for group in checked)
    return tuple(dict.fromkeys(broken for broken in found if broken is not None))


def _is_merged(component: str, names: set[str]) -> bool:
    head, dot, last = component.rpartition(".")
    return any(
        last in merged and any(f"{head}{dot}{other}" in names for other in merged - {last}) for merged in _MERGED
    )


def _broken(group: WeightGroup, gpus: int, expert_parallel: bool) -> BrokenBlock | None:
    form = group.format
    if form is None or not form.whole_blocks or form.block_rows is None or form.block_columns is None:
        return None
    is_expert = group.component.endswith("experts")
    if is_expert:
        if group.split != "columns":
            return None  # the second projection has the same inner size
        # The first projection's rows, and where there are several GPUs also the second one's columns.
        parts, size = 1 if expert_parallel else gpus, group.columns
        blocks = (form.block_rows, form.block_columns) if gpus > 1 else (form.block_rows,)
    elif gpus == 1 or group.split not in ("rows", "columns", "heads"):
        return None
    elif group.split == "columns":
        parts, size, blocks = gpus, group.columns, (form.block_columns,)
    else:
        # Key/value heads are repeated where GPUs outnumber them.
        parts = min(gpus, group.heads) if group.split == "heads" else gpus
        size, blocks = group.rows, (form.block_rows,)
    share = size / parts
    block = next((block for block in blocks if share % block), None)
    return None if block is None else BrokenBlock(group.component, size, share, block, is_expert)
