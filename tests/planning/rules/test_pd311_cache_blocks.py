from typing import Any

import pytest

from constructs_pd.planning.rules.pd311_cache_blocks import RULE
from support.rules import findings_of

SPARSE: dict[str, Any] = {"model": {"source": "deepseek-ai/DeepSeek-V3.2"}}


def blocks(prefill: Any, decode: Any) -> dict[str, Any]:
    return {"prefill.engine_args": {"block_size": prefill}, "decode.engine_args": {"block_size": decode}}


@pytest.mark.parametrize("tokens", [16, 48, 256, None])
def test_accepts_blocks_that_attention_takes(tokens: int | None) -> None:
    assert findings_of(RULE, blocks(tokens, tokens)) == []


@pytest.mark.parametrize("tokens", [17, 8, 0, -16])
def test_refuses_blocks_that_no_backend_takes(tokens: int) -> None:
    prefill, decode = findings_of(RULE, blocks(tokens, tokens))
    assert prefill.subject == "prefill.engine_args.block_size"
    assert decode.subject == "decode.engine_args.block_size"
    assert prefill.message == f"{tokens} should be a multiple of 16: vLLM's attention takes no other"
    assert prefill.remedy == "state a multiple of 16 in both phases, or leave it out"


def test_each_phase_is_looked_at_by_itself() -> None:
    (finding,) = findings_of(RULE, blocks(32, 40))
    assert finding.subject == "decode.engine_args.block_size"


def test_sparse_attention_takes_larger_ones_alone() -> None:
    assert findings_of(RULE, SPARSE | blocks(64, 128)) == []
    (finding,) = findings_of(RULE, SPARSE | blocks(64, 32))
    assert finding.message == (
        "32 should be a multiple of 64: the sparse attention of deepseek-ai/DeepSeek-V3.2 takes no other"
    )


@pytest.mark.parametrize("tokens", ["17", True, 16.5])
def test_leaves_what_is_no_number_of_tokens_to_vllm(tokens: Any) -> None:
    assert findings_of(RULE, blocks(tokens, tokens)) == []
