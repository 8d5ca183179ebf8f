"""PD311: attention reads the KV cache in blocks of the stated size."""

from collections.abc import Iterator
from typing import Final

from constructs_pd.findings import Severity
from constructs_pd.planning.catalog.rows import ModelRow
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation

# Of every backend for NVIDIA's GPUs; some take only multiples of more, and vLLM then chooses another backend.
DENSE_TOKENS: Final = 16
# Of sparse attention and of what chooses its tokens (v1/attention/backends/mla/flashmla_sparse.py and indexer.py); a
# model has it where its config.json has index_topk (models/deepseek_v2.py).
SPARSE_TOKENS: Final = 64


def whole_blocks_of(model: ModelRow | None) -> tuple[int, str]:
    """Return of how many tokens a block must be a multiple, and the attention that says so."""
    if model is not None and model.config is not None and "index_topk" in model.config:
        return SPARSE_TOKENS, f"the sparse attention of {model.model}"
    return DENSE_TOKENS, "vLLM's attention"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for each phase whose blocks no attention backend takes."""
    multiple, attention = whole_blocks_of(facts.model)
    for phase in facts.phases:
        stated = phase.spec.engine_args.get("block_size")
        if type(stated) is int and (stated <= 0 or stated % multiple):
            yield Violation(
                f"{phase.name}.engine_args.block_size",
                f"{stated} should be a multiple of {multiple}: {attention} takes no other",
                f"state a multiple of {multiple} in both phases, or leave it out",
            )


RULE = Rule(
    code="PD311",
    severity=Severity.ERROR,
    title="Attention reads the KV cache in blocks of the stated size",
    rationale="The engine refuses to start, after image and weights are there: no attention backend is left.",
    source="vLLM 0.26.0 v1/attention/backends/, get_supported_kernel_block_sizes; v1/attention/backend.py, "
    "supports_block_size; vllm#41363",
    check=check,
    arithmetic="block_size is a multiple of 16, of 64 where the model's attention is sparse, for each phase",
)
