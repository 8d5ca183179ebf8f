from typing import Any

import pytest

from constructs_pd.planning.rules.pd306_number_format import RULE
from support.rules import findings_of

CONFIG: dict[str, Any] = {
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "vocab_size": 128256,
    "max_position_embeddings": 8192,
    "torch_dtype": "bfloat16",
    "tie_word_embeddings": False,
}


def of(quantization: dict[str, Any] | None, prefill: str, decode: str = "p5.48xlarge") -> dict[str, Any]:
    config = {**CONFIG, **({"quantization_config": quantization} if quantization else {})}
    row = {"model": "acme/own", "gated": False, "config": config, "source": "a test", "date": "2026-11-29"}
    return {
        "model": {"source": "acme/own"},
        "custom_models": [row],
        "prefill.instance_type": prefill,
        "decode.instance_type": decode,
    }


MODELOPT = {"quant_method": "modelopt", "quant_algo": "FP8", "ignore": ["lm_head"]}


@pytest.mark.parametrize(
    ("quantization", "instance"),
    [
        (MODELOPT, "g6.8xlarge"),  # 8.9, the least
        (MODELOPT, "p5.48xlarge"),
        (MODELOPT, "g7e.8xlarge"),
        ({"quant_method": "fp8"}, "g5.8xlarge"),
        ({**MODELOPT, "quant_algo": "NVFP4"}, "g5.8xlarge"),
        (None, "g5.8xlarge"),
        (MODELOPT, "x"),
    ],
)
def test_accepts_gpus_that_run_it(quantization: dict[str, Any] | None, instance: str) -> None:
    assert findings_of(RULE, of(quantization, instance)) == []


@pytest.mark.parametrize(("instance", "capability"), [("g5.8xlarge", "8.6"), ("p4de.24xlarge", "8.0")])
def test_refuses_older_gpus_with_both_numbers(instance: str, capability: str) -> None:
    (finding,) = findings_of(RULE, of(MODELOPT, instance))
    assert finding.subject == "prefill.instance_type"
    assert f"compute capability {capability}" in finding.message
    assert "from 8.9" in finding.message


def test_each_phase_has_its_own() -> None:
    assert len(findings_of(RULE, of(MODELOPT, "g5.8xlarge", "g5.8xlarge"))) == 2


def test_leaves_an_unknown_model_to_its_own_rule() -> None:
    assert findings_of(RULE, {"model.source": "nobody/nothing"}) == []
