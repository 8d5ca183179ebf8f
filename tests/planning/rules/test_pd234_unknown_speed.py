from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd234_unknown_speed import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, IMAGE_ROW, MODEL_ROW

TRAFFIC = {"requests_per_second": 1.0, "prompt_tokens": 200, "output_tokens": 50}
SIZED = {**MODEL_ROW, "sizes": {"weights_gib": 14.0, "kv_bytes_per_token": 131072}}
G7 = {"prefill.instance_type": "g7.8xlarge", "decode.instance_type": "g7.8xlarge"}


def test_accepts_what_is_known_and_what_is_not_asked() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"traffic": TRAFFIC}) == []
    assert findings_of(RULE, {**G7, "traffic": {"requests_per_second": 1.0, "prompt_tokens": 200}}) == []


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        (G7, "the speed of the GPU RTX PRO 4500"),
        ({"model.source": "nobody/nothing"}, "the config.json of nobody/nothing"),
        ({"model.source": "acme/own-7b", "custom_models": [SIZED]}, "the config.json of acme/own-7b"),
        ({"prefill.instance_type": "own.1"}, "the instance type own.1"),
        (
            {"custom_images": [{**IMAGE_ROW, "vllm_version": "0.27.0"}], "image.tag": "own-1.0.0"},
            "the memory of prefill's GPUs (PD225)",
        ),
        (
            {"prefill.engine_args": {"cpu_offload_gb": 4}},
            "the memory of prefill's GPUs (PD225)",
        ),
    ],
)
def test_warns_of_what_is_missing(changes: dict[str, Any], missing: str) -> None:
    (finding,) = findings_of(RULE, {**changes, "traffic": TRAFFIC})
    assert finding.severity is Severity.WARNING
    assert finding.message == f"{missing} is not known"


def test_warns_where_not_one_request_fits() -> None:
    (finding,) = findings_of(RULE, {"traffic": {**TRAFFIC, "output_tokens": 1_000_000}})
    assert finding.message == "a request of the stated lengths does not fit an engine's KV cache"


def test_a_row_of_an_own_instance_with_known_gpus_is_enough() -> None:
    row = {**FOUR_GPU_ROW, "instance_type": "own.1"}
    own = {"prefill.instance_type": "own.1", "decode.instance_type": "own.1", "custom_instances": [row]}
    assert findings_of(RULE, {**own, "model": {"source": "Qwen/Qwen3-8B"}, "traffic": TRAFFIC}) == []
