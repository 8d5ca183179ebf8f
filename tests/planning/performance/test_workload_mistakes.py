"""A workload's own mistakes are refused once, each under its own code, about the field that is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError

from constructs_pd import PlanError
from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.performance.sizing import size
from constructs_pd.planning.performance.workload_file import size_file
from constructs_pd.planning.performance.workload_mistakes import workload_mistakes
from support.specs import FOUR_GPU_ROW, MODEL_ROW
from support.workloads import WORKLOAD_FILE, workload_data, workload_file, workload_with

CATALOG = load_catalog()
UNUSED = "add it there, or remove it"
P5 = ["p5.48xlarge"]
# What is changed, the code, its subject, a part of the message and of the remedy, and the line that it names.
CASES: list[tuple[dict[str, Any], str, str, str, str, str]] = [
    (
        {"instance_types": ["p5.48xlarge", "p5.47xlarge"]},
        "PD201",
        "instance_types.1",
        "'p5.47xlarge' is none of the 32 instance types",
        "or p5.48xlarge",
        "- p5.47xlarge",
    ),
    (
        {"instance_types": P5, "prices_per_hour": {"p5.48xlarg": 1.0}},
        "PD008",
        "prices_per_hour.p5.48xlarg",
        "'p5.48xlarg' is none of the 1 instance types in instance_types",
        f"perhaps p5.48xlarge; otherwise {UNUSED}",
        "p5.48xlarg: 1.0",
    ),
    (
        {"instance_types": P5, "prices_per_hour": {"p5.48xlarge": 55.0, "p5e.48xlarge": 60.0}},
        "PD008",
        "prices_per_hour.p5e.48xlarge",
        "'p5e.48xlarge' is none of the 1 instance types in instance_types",
        UNUSED,
        "p5e.48xlarge: 60.0",
    ),
    (
        {"block_tokens": 40},
        "PD004",
        "block_tokens",
        "40 should be a multiple of 16",
        "a multiple of 16 up to 1024",
        "block_tokens: 40",
    ),
    ({"block_tokens": 1}, "PD004", "block_tokens", "1 should be a multiple of 16", "", "block_tokens: 1"),
    (
        {
            "model.source": "deepseek-ai/DeepSeek-V3.2",
            "instance_types": ["p5en.48xlarge"],
            "block_tokens": 32,
            "slo": None,
        },
        "PD004",
        "block_tokens",
        "32 should be a multiple of 64: the sparse attention of deepseek-ai/DeepSeek-V3.2 takes no other",
        "state a multiple of 64",
        "block_tokens: 32",
    ),
    (
        {"model.source": "acme/own-7b", "custom_models": [MODEL_ROW], "slo": None},
        "PD010",
        "custom_models.0",
        "the config.json of acme/own-7b is not known",
        "give it as config",
        "- model: acme/own-7b",
    ),
    (
        {"instance_types": "p5.48xlarge", "prices_per_hour": {}},
        "PD004",
        "instance_types",
        "input should be a list",
        "",
        "instance_types: p5.48xlarge",
    ),
    ({"prices_per_hour": [1.0]}, "PD004", "prices_per_hour", "input should be a mapping", "", "prices_per_hour:"),
    (
        {"traffic.output_tokens": 5000},
        "PD009",
        "traffic.output_tokens",
        "requests of 9,000 tokens do not fit a context of 8,192",
        "state answers of at most 4,192, or raise model.max_model_len",
        "output_tokens: 5000",
    ),
    (
        {"traffic.prompt_tokens": 9000},
        "PD229",
        "traffic.prompt_tokens",
        "prompts of 9,000 tokens on average leave no room in a context of 8,192",
        "raise model.max_model_len",
        "prompt_tokens: 9000",
    ),
    (
        {"model.source": "Qwen/Qwen3-23B"},
        "PD205",
        "model.source",
        "'Qwen/Qwen3-23B' is none",
        "Qwen/Qwen3-32B",
        "source: Qwen/Qwen3-23B",
    ),
    (
        {"availability_zone": "us-east-1a"},
        "PD103",
        "availability_zone",
        "'us-east-1a' is not a zone of region us-west-2",
        "us-west-2a",
        "availability_zone: us-east-1a",
    ),
    ({"name": "Mine"}, "PD101", "name", "'Mine' is not a DNS-1035 label", "lower-case", "name: Mine"),
    (
        {"model.source": "meta-llama/Meta-Llama-3.1-70B"},
        "PD208",
        "hugging_face_token",
        "gated: it needs 1 token, and 0 are given",
        "add hugging_face_token",
        "",
    ),
    (
        {"custom_instances": [FOUR_GPU_ROW, {**FOUR_GPU_ROW, "instance_type": "other.24xlarge", "vcpus": 1}]},
        "PD213",
        "custom_instances.1.allocatable_cpu_millicores",
        "vcpus in thousandths, 1,000",
        "lower it",
        f"allocatable_cpu_millicores: {FOUR_GPU_ROW['allocatable_cpu_millicores']}",
    ),
]


@pytest.mark.parametrize(("changes", "code", "subject", "message", "remedy", "written"), CASES)
def test_a_mistake_is_said_once_where_it_stands(
    changes: dict[str, Any], code: str, subject: str, message: str, remedy: str, written: str, tmp_path: Path
) -> None:
    path = workload_file(tmp_path, changes)
    with pytest.raises(PlanError) as caught:
        size_file(path)
    assert {finding.code for finding in caught.value.findings} == {code}
    (found,) = caught.value.findings
    assert found.subject == subject
    assert message in found.message
    assert remedy in found.remedy
    _, _, line = str(found.location).partition(":")
    assert written == (path.read_text(encoding="utf-8").splitlines()[int(line) - 1].strip() if line else "")


def test_every_mistake_is_said_at_once_beside_those_of_form(tmp_path: Path) -> None:
    data = workload_data() | {
        "name": "Mine",
        "availability_zone": "us-east-1a",
        "instance_types": ["p5.48xlarg"],
        "prices": {},
    }
    path = tmp_path / "workload.yaml"
    path.write_text(yaml.safe_dump(data), encoding="utf-8")
    with pytest.raises(PlanError) as caught:
        size_file(path)
    assert [finding.code for finding in caught.value.findings] == [
        "PD002",
        "PD008",
        "PD008",
        "PD101",
        "PD103",
        "PD201",
    ]
    assert all(str(finding.location).startswith(f"{path}:") for finding in caught.value.findings)


@pytest.mark.parametrize("source", ["deepseek-ai/DeepSeek-V3.2", "zai-org/GLM-5-FP8", "zai-org/GLM-5.3-FP8"])
@pytest.mark.parametrize(("block", "codes"), [(48, ["PD004"]), (64, []), (192, []), (None, [])])
def test_sparse_attention_takes_multiples_of_64(source: str, block: int | None, codes: list[str]) -> None:
    changes = {"model.source": source, "instance_types": ["p6-b200.48xlarge"], "slo": None, "block_tokens": block}
    assert [finding.code for finding in workload_mistakes(workload_with(changes), CATALOG)] == codes


def test_a_price_is_not_said_to_be_of_a_type_that_is_misspelled_itself() -> None:
    changes: dict[str, Any] = {
        "instance_types": ["g6.8xlarge", "g6.8xlage", "p5.48xlarge"],
        "prices_per_hour": {"g6.8xlarge": 2.0, "p5.48xlarge": 55.0, "g6.48xlarge": 3.0},
    }
    price, name = workload_mistakes(workload_with(changes), CATALOG)
    assert (price.code, price.subject, price.remedy) == ("PD008", "prices_per_hour.g6.48xlarge", UNUSED)
    assert (name.code, name.subject) == ("PD201", "instance_types.1")


def test_an_instance_type_stands_in_the_list_once() -> None:
    with pytest.raises(ValidationError, match="more than once"):
        workload_with({"instance_types": ["p5.48xlarge", "p5.48xlarge"]})


def test_the_example_has_no_mistake() -> None:
    assert workload_mistakes(workload_with(), CATALOG) == ()
    assert size_file(WORKLOAD_FILE).options == size(workload_with()).options


def test_an_instance_type_of_ones_own_is_known() -> None:
    row = CATALOG.instances["p5.48xlarge"].model_dump(mode="json") | {"instance_type": "own.48xlarge"}
    own = {"custom_instances": [row], "instance_types": ["own.48xlarge"], "prices_per_hour": {"own.48xlarge": 1.0}}
    assert workload_mistakes(workload_with(own), CATALOG) == ()


def test_what_one_instance_type_cannot_hold_is_no_mistake_where_another_does() -> None:
    changes = {"model.source": "Qwen/Qwen3-235B-A22B", "instance_types": ["g6.8xlarge", "p5en.48xlarge"]}
    assert workload_mistakes(workload_with(changes), CATALOG) == ()


def test_what_a_type_cannot_hold_is_said_once_for_each_phase() -> None:
    changes = {"model.source": "Qwen/Qwen3-235B-A22B", "instance_types": ["g6.8xlarge", "g5.8xlarge"], "slo": None}
    with pytest.raises(PlanError) as caught:
        size(workload_with(changes))
    messages = [finding.message.partition(": ")[0] for finding in caught.value.findings]
    assert messages == ["g5.8xlarge for decode", "g6.8xlarge for decode", "with two different types"]
    assert {finding.code for finding in caught.value.findings} == {"PD007"}
