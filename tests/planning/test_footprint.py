"""What a row of the catalogue takes of a GPU, derived or stated by hand."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from constructs_pd import DeploymentSpec, ModelRow, ModelSizes
from constructs_pd.findings import PlanError
from constructs_pd.planning import parse_spec
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.footprint import Footprint, footprint
from constructs_pd.planning.models import kv_bytes_per_token_per_gpu, state_bytes_per_request_per_gpu
from support.model_configs import LLAMA, with_fields
from support.specs import MODEL_ROW, reference_data

SIZES = {"weights_gib": 14.5, "kv_bytes_per_token": 4096, "state_bytes_per_request": 1001}
DERIVED = {"model": "acme/own-7b", "gated": False, "source": "its config.json", "date": "2026-11-29"}


def row(**fields: Any) -> ModelRow:
    return ModelRow.model_validate({**MODEL_ROW, **fields})


def test_sizes_are_derived_from_the_configuration() -> None:
    model = load_catalog().models["Qwen/Qwen3.5-9B"]
    taken = footprint(model, 2, kv_cache_dtype="fp8")
    assert taken is not None
    assert model.facts is not None
    assert taken.kv_bytes_per_token == kv_bytes_per_token_per_gpu(model.facts, 2, "fp8") == 8 * 2 * 2 * 256
    assert taken.state_bytes_per_request == state_bytes_per_request_per_gpu(model.facts, 2)
    assert taken.windows == ()
    assert 8.7 < taken.weight_bytes / 1024**3 < 8.9


def test_sizes_by_hand_are_split_over_the_gpus() -> None:
    own = row(sizes=SIZES, kv_heads=2)
    assert footprint(own) == Footprint(int(14.5 * 1024**3), 4096, (), 1001)
    assert footprint(own, 4) == Footprint(int(14.5 * 1024**3) // 4, 2048, (), 251)


def test_a_row_without_either_says_nothing() -> None:
    assert footprint(row()) is None


def test_sizes_by_hand_win_and_make_up_for_a_configuration_that_cannot_be_counted() -> None:
    both = row(config=LLAMA, sizes=SIZES, attention_heads=8, kv_heads=2, max_position_embeddings=4096)
    assert footprint(both) == footprint(row(sizes=SIZES, kv_heads=2))
    strange = row(config={"architectures": ["RwkvForCausalLM"]}, sizes=SIZES)
    assert strange.facts is None
    assert footprint(strange) is not None


def test_a_configuration_makes_the_other_facts_unnecessary() -> None:
    own = ModelRow.model_validate({**DERIVED, "config": LLAMA})
    assert own.model_dump(include={"architecture", "attention", "attention_heads", "kv_heads"}) == {
        "architecture": "LlamaForCausalLM",
        "attention": "full",
        "attention_heads": 8,
        "kv_heads": 2,
    }
    assert ModelRow.model_validate(own.model_dump()) == own
    assert "hidden_size" not in repr(own)


def test_what_contradicts_the_configuration_is_refused() -> None:
    with pytest.raises(ValidationError, match="attention_heads: config gives 8, the row another"):
        ModelRow.model_validate({**DERIVED, "config": LLAMA, "attention_heads": 32})


@pytest.mark.parametrize(
    "config",
    [
        {"architectures": ["RwkvForCausalLM"]},
        with_fields(LLAMA, num_hidden_layers=None),
        # Found where the weights are counted, not before.
        with_fields(LLAMA, quantization_config={"quant_method": "bitsandbytes"}),
    ],
    ids=["architecture", "truncated", "quantization"],
)
def test_a_configuration_that_cannot_be_counted_is_one_mistake_of_the_specification(config: dict[str, Any]) -> None:
    data = {**reference_data(), "custom_models": [{**DERIVED, "config": config}]}
    with pytest.raises(PlanError) as caught:
        parse_spec(data)
    (finding,) = caught.value.findings
    assert finding.subject == "custom_models.0"
    with pytest.raises(ValidationError):
        DeploymentSpec.model_validate(data)


@pytest.mark.parametrize("gib", [0, -1, float("nan"), float("inf"), 1e9])
def test_sizes_that_make_no_sense_are_refused(gib: float) -> None:
    with pytest.raises(ValidationError):
        ModelSizes(weights_gib=gib, kv_bytes_per_token=1)


def test_the_catalogue_is_derived_not_typed_in() -> None:
    for model in load_catalog().models.values():
        assert model.config is not None
        assert model.facts is not None
        assert (model.attention, model.attention_heads) == (
            model.facts.outline.attention,
            model.facts.outline.attention_heads,
        )
