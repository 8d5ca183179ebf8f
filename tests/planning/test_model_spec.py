"""A model read from its config.json on disk."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from constructs_pd import DeploymentSpec, ModelConfigError, ModelSpec, plan
from support.model_configs import LLAMA, QWEN_HYBRID
from support.specs import changed, reference_data


def written(folder: Path, text: str | bytes, name: str = "config.json") -> Path:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_file_gives_facts(tmp_path: Path) -> None:
    spec = ModelSpec.from_config_json(written(tmp_path, json.dumps(LLAMA)))
    assert spec.facts.outline.architecture == "LlamaForCausalLM"
    assert spec.facts.quantization is None
    assert ModelSpec.from_config_json(str(tmp_path / "config.json")) == spec


def test_a_quantization_beside_the_file_counts_as_it_does_for_vllm(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps(LLAMA))
    stated = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}}
    written(tmp_path, json.dumps(stated), "hf_quant_config.json")
    facts = ModelSpec.from_config_json(path).facts
    assert (facts.quantization, facts.kv_cache_dtype) == ("FP8", "fp8")
    own = {**LLAMA, "quantization_config": {"quant_method": "fp8"}}
    assert ModelSpec.from_config_json(written(tmp_path, json.dumps(own))).facts.quantization == "fp8"


def test_infinity_which_is_no_json_but_stands_in_published_files_is_read_as_null(tmp_path: Path) -> None:
    text = json.dumps(LLAMA)[:-1] + ', "time_step_limit": [0.0, Infinity], "scale": 1e999}'
    spec = ModelSpec.from_config_json(written(tmp_path, text))
    assert (spec.config["time_step_limit"], spec.config["scale"]) == ([0.0, None], None)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        (json.dumps(LLAMA)[:-30], "not JSON"),
        (b"\xff\xfe{}", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "not JSON"),
        ("[]", "a list of 0 entries"),
        ("3", "config.json: 3"),
        ("null", "config.json: None"),
        (" " * 20_000_001, "more than 20,000,000 bytes"),
        ("{}", "architectures: missing"),
        ('{"architectures": ["BertModel"]}', "'BertModel' is not known"),
    ],
    ids=range(12),
)
def test_a_file_that_is_no_configuration_is_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(ModelConfigError) as caught:
        ModelSpec.from_config_json(written(tmp_path, text))
    assert message in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelConfigError, match=r"config\.json: cannot be read \(No such file or directory\)"):
        ModelSpec.from_config_json(tmp_path / "config.json")
    with pytest.raises(ModelConfigError, match="cannot be read"):
        ModelSpec.from_config_json(tmp_path)


def test_a_file_becomes_an_entry_of_custom_models(tmp_path: Path) -> None:
    spec = ModelSpec.from_config_json(written(tmp_path, json.dumps(QWEN_HYBRID)))
    row = spec.row("acme/own", gated=False, source="its config.json", date=date(2026, 11, 29))
    assert (row.attention, row.attention_heads, row.kv_heads) == ("hybrid", 8, 2)
    data = changed(reference_data(), {"model.source": "acme/own"})
    data["custom_models"] = [row.model_dump(mode="json")]
    deployment = DeploymentSpec.model_validate(data)
    assert deployment.custom_models[0].facts == row.facts
    assert plan(deployment).model.source == "acme/own"
