from typing import Any

import pytest

from constructs_pd.findings import Finding
from constructs_pd.planning.rules.pd309_whole_blocks import RULE
from support.rules import findings_of

CONFIG: dict[str, Any] = {
    "architectures": ["Qwen3ForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 12288,
    "num_hidden_layers": 36,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "head_dim": 128,
    "vocab_size": 151936,
    "max_position_embeddings": 40960,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}
BLOCKS = {"quant_method": "fp8", "activation_scheme": "dynamic", "weight_block_size": [128, 128]}
COMPRESSED = {
    "quant_method": "compressed-tensors",
    "ignore": ["lm_head"],
    "config_groups": {
        "group_0": {
            "targets": ["Linear"],
            "weights": {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [128, 128]},
        }
    },
}


def of(source: str, size: int | None, arguments: dict[str, Any] | None = None) -> list[Finding]:
    phase = {"instance_type": "p5.48xlarge", "tensor_parallel": size, "engine_args": arguments or {}}
    return findings_of(RULE, {"model": {"source": source}, "prefill": phase, "decode": phase})


def own(size: int, quantization: dict[str, Any], **fields: Any) -> list[Finding]:
    config = {**CONFIG, **fields, "quantization_config": quantization}
    row = {"model": "acme/own", "gated": False, "config": config, "source": "a test", "date": "2026-11-30"}
    phase = {"instance_type": "p5.48xlarge", "tensor_parallel": size}
    return findings_of(
        RULE, {"model": {"source": "acme/own"}, "custom_models": [row], "prefill": phase, "decode": phase}
    )


@pytest.mark.parametrize(
    ("source", "size"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", 4),
        ("Qwen/Qwen3-30B-A3B-FP8", 2),
        ("Qwen/Qwen3-30B-A3B-FP8", 1),
        ("MiniMaxAI/MiniMax-M2.5", 4),
        ("deepseek-ai/DeepSeek-V3", 8),
        ("deepseek-ai/DeepSeek-V3.2", None),
        ("Qwen/Qwen3-32B-FP8", 8),
        ("Qwen/Qwen3-32B-FP8", None),
        ("openai/gpt-oss-120b", 8),
        ("nobody/nothing", 8),
    ],
)
def test_accepts_whole_blocks(source: str, size: int | None) -> None:
    assert of(source, size) == []


@pytest.mark.parametrize(
    ("source", "size", "share", "largest"),
    [
        ("Qwen/Qwen3-235B-A22B-FP8", 8, 192, 4),
        ("Qwen/Qwen3-235B-A22B-FP8", None, 192, 4),
        ("MiniMaxAI/MiniMax-M2.5", 8, 192, 4),
        ("Qwen/Qwen3-30B-A3B-FP8", 4, 192, 2),
        ("Qwen/Qwen3-30B-A3B-FP8", 8, 96, 2),
    ],
)
def test_refuses_parts_of_experts_with_both_numbers(source: str, size: int | None, share: int, largest: int) -> None:
    prefill, decode = of(source, size)
    assert (prefill.subject, decode.subject) == ("prefill.tensor_parallel", "decode.tensor_parallel")
    assert f"each of {size or 8} GPUs gets {share} of the " in prefill.message
    assert prefill.message.endswith("blocks have 128")
    assert f"state prefill.tensor_parallel: {largest}, the largest that works" in prefill.remedy
    assert "state enable_expert_parallel: true in prefill.engine_args" in prefill.remedy


@pytest.mark.parametrize("source", ["Qwen/Qwen3-235B-A22B-FP8", "Qwen/Qwen3-30B-A3B-FP8", "MiniMaxAI/MiniMax-M2.5"])
def test_expert_parallel_keeps_experts_whole(source: str) -> None:
    assert of(source, 8, {"enable_expert_parallel": True}) == []
    assert len(of(source, 8, {"enable_expert_parallel": False})) == 2


def test_refuses_parts_of_a_dense_layers_columns() -> None:
    finding, _ = own(8, BLOCKS, intermediate_size=9728)
    assert "each of 8 GPUs gets 1,216 of the 9,728 rows or columns of mlp.down_proj" in finding.message
    assert "state prefill.tensor_parallel: 4" in finding.remedy
    assert "expert" not in finding.remedy


def test_what_is_not_split_may_end_within_a_block() -> None:
    assert own(1, BLOCKS, intermediate_size=9700) == []


def test_merged_rows_are_checked_in_compressed_tensors_alone() -> None:
    # 8 key heads of 64 rows: half a block for each of 8 GPUs. vLLM's FP8 method lets merged layers pass.
    heads = {"head_dim": 64, "num_attention_heads": 64}
    assert own(8, BLOCKS, **heads) == []
    finding, _ = own(8, COMPRESSED, **heads)
    assert "gets 64 of the 512 rows or columns of self_attn.k_proj" in finding.message


def test_repeated_heads_are_whole() -> None:
    assert own(8, COMPRESSED, num_key_value_heads=4) == []


def test_experts_that_are_no_whole_blocks_need_another_checkpoint() -> None:
    experts = {
        "architectures": ["Qwen3MoeForCausalLM"],
        "num_experts": 8,
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 700,
    }
    finding, _ = own(1, BLOCKS, **experts)
    assert "gets 700 of the 700" in finding.message
    assert finding.remedy == "choose another checkpoint of the model, or other instance types"
