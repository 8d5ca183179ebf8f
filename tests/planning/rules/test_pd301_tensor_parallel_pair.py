from typing import Any

import pytest

from constructs_pd.planning.rules.pd301_tensor_parallel_pair import RULE
from support.rules import findings_of
from support.specs import MODEL_ROW


def sizes(prefill: int, decode: int, source: str | None = None) -> dict[str, Any]:
    return {
        **({"model": {"source": source}} if source else {}),
        "prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": prefill},
        "decode": {"instance_type": "p5.48xlarge", "tensor_parallel": decode},
    }


EIGHT_HEADS, FOUR_HEADS = "Qwen/Qwen3-8B", "Qwen/Qwen3-30B-A3B"
LATENT, WINDOWS = "deepseek-ai/DeepSeek-R1", "openai/gpt-oss-20b"


@pytest.mark.parametrize(
    ("prefill", "decode", "source"),
    [
        (1, 1, EIGHT_HEADS),
        (4, 4, EIGHT_HEADS),
        (1, 8, EIGHT_HEADS),
        (2, 4, EIGHT_HEADS),
        (2, 1, EIGHT_HEADS),
        (8, 4, EIGHT_HEADS),
        (4, 2, FOUR_HEADS),  # as many GPUs as KV heads: none is repeated
        (4, 8, FOUR_HEADS),  # decode may repeat them
        (8, 1, LATENT),
        (1, 8, LATENT),
        (8, 4, WINDOWS),
    ],
)
def test_accepts_what_the_kind_of_attention_can_hand_over(prefill: int, decode: int, source: str) -> None:
    assert findings_of(RULE, sizes(prefill, decode, source)) == []


@pytest.mark.parametrize("source", [EIGHT_HEADS, LATENT, WINDOWS])
@pytest.mark.parametrize(("prefill", "decode"), [(3, 4), (4, 3), (2, 5)])
def test_refuses_sizes_of_which_none_divides_the_other(prefill: int, decode: int, source: str) -> None:
    (finding,) = findings_of(RULE, sizes(prefill, decode, source))
    assert finding.message == f"prefill {prefill}, decode {decode}: one must divide the other"


@pytest.mark.parametrize(("decode", "least"), [(4, 4), (2, 4), (1, 4)])
def test_refuses_a_larger_prefill_that_repeats_kv_heads(decode: int, least: int) -> None:
    (finding,) = findings_of(RULE, sizes(8, decode, FOUR_HEADS))
    assert f"prefill 8, decode {decode}: prefill repeats the 4 KV heads" in finding.message
    assert f"prefill's to {least} or less" in finding.remedy


def test_a_model_by_hand_with_one_kv_head_is_not_taken_for_latent_attention() -> None:
    row = {**MODEL_ROW, "kv_heads": 1}
    (finding,) = findings_of(RULE, {**sizes(2, 1, "acme/own-7b"), "custom_models": [row]})
    assert "repeats the 1 KV heads" in finding.message


def test_accepts_on_a_hybrid_model_equal_sizes_only() -> None:
    assert findings_of(RULE, sizes(8, 8)) == []
    for pair in ((4, 8), (8, 4)):
        (finding,) = findings_of(RULE, sizes(*pair))
        assert "hybrid" in finding.message
        assert "set both to 8" in finding.remedy


def test_compares_the_defaults_where_no_size_is_given() -> None:
    (finding,) = findings_of(RULE, {"decode": {"instance_type": "p5.48xlarge"}})
    assert "prefill 1, decode 8" in finding.message


def test_leaves_unknown_rows_to_their_own_rules() -> None:
    assert findings_of(RULE, {"decode.instance_type": "x"}) == []
    assert findings_of(RULE, sizes(3, 2, "a/b")) == []
