"""Which module has which number format, and how many bytes that is."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.planning.models import ModelConfigError, ModelFacts, model_facts, weight_bytes_per_gpu
from constructs_pd.planning.models.module_names import ModuleNames, module_name
from constructs_pd.planning.models.weight_format import FP8, MXFP4, NVFP4, fp8_blocks, integers
from support.model_configs import LLAMA, with_fields


def quantized(architecture: str = "LlamaForCausalLM", **stated: Any) -> ModelFacts:
    fields = {"architectures": [architecture], "num_local_experts": 4, "num_experts_per_tok": 2, "sliding_window": None}
    return model_facts(with_fields(LLAMA, quantization_config=stated, **fields))


def formats(facts: ModelFacts) -> dict[str, set[str | None]]:
    found: dict[str, set[str | None]] = {}
    for group in facts.weights:
        found.setdefault(group.component, set()).add(group.format.name if group.format else None)
    return found


def test_fp8_has_one_scale_or_one_for_each_block() -> None:
    assert FP8.size_bytes(256, 512) == 256 * 512 + 4
    assert fp8_blocks(128, 128).size_bytes(256, 500) == 256 * 500 + 2 * 4 * 4
    assert quantized(quant_method="fp8").quantization == "fp8"
    blocks = quantized(quant_method="fp8", weight_block_size=[128, 128])
    assert formats(blocks)["self_attn.q_proj"] == {"fp8 in blocks of 128 x 128"}


def test_four_bits_have_a_scale_for_each_group() -> None:
    assert MXFP4.size_bytes(64, 320) == 64 * 320 // 2 + 64 * 10
    assert NVFP4.size_bytes(64, 320) == 64 * 320 // 2 + 64 * 20
    assert integers(4, 128, zero_point=True).size_bytes(64, 256) == 64 * 256 // 2 + 64 * 2 * 20 // 8
    assert integers(4, None, zero_point=False).size_bytes(64, 256) == 64 * 256 // 2 + 64 * 2


def test_embeddings_norms_and_routers_are_never_converted() -> None:
    facts = quantized("MixtralForCausalLM", quant_method="fp8")
    plain = {name for name, kinds in formats(facts).items() if kinds == {None}}
    assert plain == {"embed_tokens", "lm_head", "norm", "norms", "block_sparse_moe.gate"}


def test_mxfp4_converts_experts_alone() -> None:
    facts = quantized("MixtralForCausalLM", quant_method="mxfp4")
    assert {name for name, kinds in formats(facts).items() if kinds == {"mxfp4"}} == {"block_sparse_moe.experts"}


@pytest.mark.parametrize(
    ("stated", "format_name"),
    [
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, "int4"),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1, "sym": True}, "int8"),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "nvfp4"),
        ({"quant_algo": "FP8"}, "fp8"),
        ({"quant_method": "modelopt", "quantization": {"quant_algo": "MXFP8"}}, "mxfp8"),
    ],
)
def test_every_method_is_read(stated: dict[str, Any], format_name: str) -> None:
    assert formats(quantized(**stated))["mlp.up_proj"] == {format_name}


@pytest.mark.parametrize(
    ("weights", "format_name"),
    [
        ({"num_bits": 8, "type": "float", "strategy": "tensor"}, "fp8"),
        ({"num_bits": 8, "type": "float", "strategy": "channel"}, "fp8 per channel"),
        (
            {"num_bits": 8, "type": "float", "strategy": "block", "block_structure": [64, 64]},
            "fp8 in blocks of 64 x 64",
        ),
        ({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}, "nvfp4"),
        ({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}, "mxfp4"),
        ({"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}, "int4"),
        ({"num_bits": 8, "type": "int", "strategy": "channel"}, "int8"),
    ],
)
def test_compressed_tensors_are_read(weights: dict[str, Any], format_name: str) -> None:
    groups = {"group_0": {"targets": ["Linear"], "weights": weights}}
    facts = quantized(quant_method="compressed-tensors", config_groups=groups, ignore=["lm_head"])
    assert formats(facts)["mlp.up_proj"] == {format_name}


def test_groups_may_name_their_modules() -> None:
    groups = {
        "fp8": {"targets": ["re:.*self_attn.*"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel"}},
        "activations": {"targets": ["Linear"]},
        "int4": {"targets": ["re:.*mlp.*"], "weights": {"num_bits": 4, "type": "int", "group_size": 32}},
    }
    scheme = {"num_bits": 8, "type": "float"}
    facts = quantized(quant_method="compressed-tensors", config_groups=groups, kv_cache_scheme=scheme)
    assert formats(facts)["self_attn.o_proj"] == {"fp8 per channel"}
    assert formats(facts)["mlp.down_proj"] == {"int4"}
    assert facts.kv_cache_dtype == "fp8"


def test_mixed_precision_names_every_module() -> None:
    layers = {
        "model.layers.0.mlp.up_proj": {"quant_algo": "FP8"},
        "model.layers.1.mlp": {"quant_algo": "NVFP4", "group_size": 16},
    }
    scheme = {"num_bits": 8, "type": "float", "dynamic": False}
    stated: dict[str, Any] = {"quant_algo": "MIXED_PRECISION", "quantized_layers": layers, "kv_cache_scheme": scheme}
    facts = quantized(quant_method="modelopt", **stated)
    assert formats(facts)["mlp.up_proj"] == {"fp8", "nvfp4", None}
    assert formats(facts)["mlp.down_proj"] == {"nvfp4", None}
    assert facts.kv_cache_dtype == "fp8"


@pytest.mark.parametrize(
    "name",
    [
        "model.layers.3.mlp.up_proj",
        "language_model.model.layers.3.mlp.up_proj",
        "model.layers.3.mlp.gate_up_proj",
        "model.layers.3.mlp",
        "model.layers.3.*",
        "*.mlp.*",
        "up_proj",
        "re:.*mlp.*",
        "re:.*layers\\.3\\..*",
    ],
)
def test_a_module_is_found_by_its_name_by_what_holds_it_and_by_patterns(name: str) -> None:
    assert "layers.3.mlp.up_proj" in ModuleNames([name], "ignore")


@pytest.mark.parametrize(
    "name", ["model.layers.33.mlp.up_proj", "model.layers.3.mlp.up", "lm_head", "re:.*self_attn.*"]
)
def test_a_module_is_not_found_by_another(name: str) -> None:
    assert "layers.3.mlp.up_proj" not in ModuleNames([name], "ignore")


def test_experts_stand_under_one_name() -> None:
    assert module_name("backbone.layers.1.mixer.experts.7.up_proj") == "layers.1.mixer.experts"


def test_modules_that_are_not_converted_stay_plain() -> None:
    facts = quantized(quant_method="fp8", modules_to_not_convert=["lm_head", "model.layers.0.mlp.down_proj"])
    assert formats(facts)["mlp.down_proj"] == {"fp8", None}
    assert weight_bytes_per_gpu(quantized(quant_method="fp8")) < weight_bytes_per_gpu(facts)


@pytest.mark.parametrize(
    ("stated", "message"),
    [
        ({"quant_method": "bitsandbytes"}, "quant_method: 'bitsandbytes'; known are fp8"),
        ({}, "quant_method: None"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, "weight_block_size: a list of 1 entries"),
        ({"quant_method": "fp8", "weight_block_size": [0, 128]}, "weight_block_size"),
        ({"quant_method": "fp8", "modules_to_not_convert": [3]}, "modules_to_not_convert"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:(("]}, "not a regular expression"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["x" * 9999]}, "write fewer and shorter ones"),
        ({"quant_method": "awq", "bits": 3}, "bits: 3: only 4 and 8 are known"),
        ({"quant_method": "awq"}, "bits: missing"),
        ({"quant_method": "modelopt", "quant_algo": "W4A8_AWQ"}, "quant_algo: 'W4A8_AWQ'; known are FP8"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION"}, "quantized_layers: missing"),
        ({"quant_method": "modelopt", "quant_algo": "MIXED_PRECISION", "quantized_layers": {"a": None}}, "quant"),
        ({"quant_method": "compressed-tensors"}, "config_groups: missing"),
        (
            {"quant_method": "compressed-tensors", "config_groups": {"g": {"weights": {"num_bits": 2, "type": "int"}}}},
            "2 bits by tensor are not known",
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "config_groups": {"g": {"weights": {"num_bits": 8, "type": "float", "strategy": "block"}}},
            },
            "block_structure: None",
        ),
    ],
)
def test_what_cannot_be_read_is_refused_by_name(stated: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        quantized(**stated)
    assert message in str(caught.value)
    assert caught.value.field.startswith("quantization_config")
