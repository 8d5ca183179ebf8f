from typing import Any

import pytest

from constructs_pd.planning.rules.pd225_unknown_fit import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, IMAGE_ROW, MODEL_ROW

OWN_MODEL = {"model": {"source": "acme/own-7b"}, "custom_models": [MODEL_ROW]}
SIZES = {"weights_gib": 14.5, "kv_bytes_per_token": 4096}
OWN_GPU = {**FOUR_GPU_ROW, "instance_type": "g6.own", "gpu": {**FOUR_GPU_ROW["gpu"], "name": "L9"}}  # type: ignore[dict-item]
OWN_IMAGE = {**IMAGE_ROW, "vllm_version": "0.27.0"}


@pytest.mark.parametrize("changes", [{}, {**OWN_MODEL, "custom_models": [{**MODEL_ROW, "sizes": SIZES}]}])
def test_accepts_what_is_known(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize(
    ("changes", "subjects", "missing"),
    [
        (OWN_MODEL, ["prefill.instance_type", "decode.instance_type"], "the model's sizes"),
        (
            {"decode.instance_type": "g6.own", "custom_instances": [OWN_GPU]},
            ["decode.instance_type"],
            "how much memory of a L9 CUDA counts",
        ),
        (
            {"image": {"tag": "own-1.0.0", "registry": "public"}, "custom_images": [OWN_IMAGE]},
            ["prefill.instance_type", "decode.instance_type"],
            "how vLLM 0.27.0 divides memory",
        ),
    ],
)
def test_says_which_fact_is_missing(changes: dict[str, Any], subjects: list[str], missing: str) -> None:
    findings = findings_of(RULE, changes)
    assert [finding.subject for finding in findings] == subjects
    assert all(finding.message.endswith(f"for want of 1 fact: {missing}") for finding in findings)


def test_says_which_arguments_are_not_counted() -> None:
    arguments = {"quantization": "fp8", "seed": 7, "enable_lora": True}
    (finding,) = findings_of(RULE, {"decode.engine_args": arguments})
    assert finding.subject == "decode.engine_args.enable_lora"
    assert finding.message.endswith("2 arguments change what is counted: enable_lora, quantization")


@pytest.mark.parametrize(
    ("overrides", "count"), [({"rope_scaling": {"factor": 4}}, 0), ({}, 0), ({"num_hidden_layers": 4}, 1), ("x", 1)]
)
def test_overrides_of_the_context_alone_are_counted(overrides: object, count: int) -> None:
    assert len(findings_of(RULE, {"decode.engine_args": {"hf_overrides": overrides}})) == count


@pytest.mark.parametrize(
    "changes",
    [
        {"model.source": "a/b"},
        {"image": {"tag": "none"}},
        {"decode.instance_type": "p9.large", "prefill.instance_type": "p9.large"},
        {"decode.tensor_parallel": 2, "prefill.tensor_parallel": 2},
    ],
)
def test_leaves_what_other_rules_refuse_to_them(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []
