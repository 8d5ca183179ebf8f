"""A model read from its config.json on disk."""

from __future__ import annotations

import json
import math
from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from constructs_pd import DeploymentSpec, ModelConfigError, ModelRow, ModelSpec, plan
from constructs_pd.planning.footprint import footprint
from support.model_configs import LLAMA, QWEN_HYBRID
from support.published_models import published_config, published_models
from support.specs import MODEL_ROW, changed, reference_data
from support.strategies_runs import examples


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


ABSURD: list[Any] = [0, -1, 10**9, 10**30, 10**400, 1e308, math.nan, math.inf, -math.inf, 1.5, True, None, "8", "", []]
ABSURD += [[[]], [0], [-1], ["x"], [None], {}, {"a": 1}, "\ud800", "auto", 3, 7, 2**63]
PUBLISHED = [published_config(model) for model in published_models()]


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """Return a published file with fields left out or replaced, perhaps given twice, cut, or in another encoding."""
    config = deepcopy(draw(st.sampled_from(PUBLISHED)))
    for _ in range(draw(st.integers(0, 3))):
        inner = [value for value in config.values() if isinstance(value, dict) and value]
        target = draw(st.sampled_from([config, *inner]))
        if not target:
            continue
        name = draw(st.sampled_from(sorted(target)))
        if draw(st.booleans()):
            target[name] = deepcopy(draw(st.sampled_from(ABSURD)))
        else:
            del target[name]
    text = json.dumps(config)
    kind = draw(st.sampled_from(["whole", "whole", "whole", "twice", "cut", "utf-16", "bom", "nested", "noise"]))
    if kind == "twice":
        text = f'{{"hidden_size": {draw(st.sampled_from(["0", "-1", "64", "NaN"]))}, {text[1:]}'
    elif kind == "cut":
        text = text[: draw(st.integers(0, len(text)))]
    elif kind == "nested":
        depth = draw(st.sampled_from([10, 60, 900, 100_000]))
        text = f'{text[:-1]}, "x": {"[" * depth}{"]" * depth}}}'
    content = text.encode("utf-16" if kind == "utf-16" else "utf-8-sig" if kind == "bom" else "utf-8", "surrogatepass")
    if kind == "noise":
        index = draw(st.integers(0, len(content) - 1))
        content = content[:index] + draw(st.binary(min_size=1, max_size=3)) + content[index + 1 :]
    return content


@examples(300)
@given(content=mutated() | st.binary(max_size=100), gpus=st.sampled_from([1, 2, 8]))
def test_whatever_a_file_holds_gives_sound_sizes_or_one_typed_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes, gpus: int
) -> None:
    path = tmp_path_factory.getbasetemp() / "config.json"
    path.write_bytes(content)
    refusal: ModelConfigError | None = None
    try:
        spec = ModelSpec.from_config_json(path)
    except ModelConfigError as error:
        refusal = error
    if refusal is not None:
        assert all((refusal.field, refusal.found, refusal.remedy))
        assert len(str(refusal)) < 1_000
        str(refusal).encode()
        return
    row = spec.row("acme/own", gated=False, source="its config.json", date=date(2026, 11, 29))
    assert ModelRow.model_validate_json(row.model_dump_json()).facts == spec.facts
    size = footprint(row, gpus)
    assert size is not None
    assert size.weight_bytes > 0
    assert min(size.kv_bytes_per_token, size.state_bytes_per_request, *(w.bytes_per_token for w in size.windows)) >= 0


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"architectures": "\\ud800"}', "half of a UTF-16 pair"),
        ('{"\\udfff": 1}', "half of a UTF-16 pair"),
        (f'{{"x": {"[" * 60}{"]" * 60}}}', "more than 50 levels"),
        ('{"architectures": ["LlamaForCausalLM"], "max_position_embeddings": 0}', "from 1 to 100,000,000"),
        ('{"architectures": ["LlamaForCausalLM"], "max_position_embeddings": NaN}', "max_position_embeddings: missing"),
    ],
    ids=range(5),
)
def test_absurd_content_is_refused_where_it_stands(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(ModelConfigError, match=message):
        ModelSpec.from_config_json(written(tmp_path, text))


def test_a_path_that_is_none_is_refused() -> None:
    with pytest.raises(ModelConfigError, match=r"cannot be read \(embedded null byte\)"):
        ModelSpec.from_config_json("a\0b")


def test_an_unknown_architecture_can_be_stated_by_hand(tmp_path: Path) -> None:
    """The error names the way out, and the way out works."""
    with pytest.raises(ModelConfigError, match=r"sizes in custom_models") as caught:
        ModelSpec.from_config_json(written(tmp_path, '{"architectures": ["NewAttentionForCausalLM"]}'))
    assert caught.value.field == "architectures"
    row = {**MODEL_ROW, "architecture": "NewAttentionForCausalLM"}
    row["sizes"] = {"weights_gib": 14.2, "kv_bytes_per_token": 131072}
    data = changed(reference_data(), {"model.source": MODEL_ROW["model"], "custom_models": [row]})
    memory = plan(DeploymentSpec.model_validate(data)).decode.memory
    assert memory is not None
    assert memory.weight_bytes == round(14.2 * 1024**3)
