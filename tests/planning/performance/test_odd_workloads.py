"""Whatever sound workload is sized, the specification that is written of it plans cleanly."""

from __future__ import annotations

from typing import Any

import pytest

from constructs_pd import PlanError, plan
from constructs_pd.planning.performance.sizing import size
from support.workloads import workload_with

SMALL = {"model.source": "Qwen/Qwen3-8B", "instance_types": ["g6.8xlarge"], "slo": None}
# What may be said of a specification that plans; of its speed only what the sizing says too: that it
# is not worth it, and what does not fit.
OTHERS = {"PD115", "PD206", "PD218", "PD230", "PD233", "PD236", "PD412"}
ODD: dict[str, dict[str, Any]] = {
    "the example": {},
    "hardly any requests": {**SMALL, "traffic": {"requests_per_second": 1e-3, "prompt_tokens": 1, "output_tokens": 1}},
    "no promises": {"slo": None},
    "promises of no time": {"slo": {"availability": 0.999}},
    "prompts as long as the context": {
        "model.max_model_len": 40960,
        "traffic.prompt_tokens": 39000,
        "traffic.output_tokens": 1960,
        "slo": None,
    },
    "answers as long as the context": {
        "traffic.prompt_tokens": 1,
        "traffic.output_tokens": 8191,
        "slo": None,
    },
    "very unequal prompts": {"traffic.prompt_variation": 10.0},
    "almost all cached": {"traffic.cached_prompt_fraction": 0.999},
    "the model's own context": {"model.max_model_len": None},
    "the largest blocks": {"block_tokens": 1024},
    "the smallest blocks": {"block_tokens": 16, "traffic.requests_per_second": 4.0},
    "vLLM's blocks": {"block_tokens": None, "traffic.requests_per_second": 4.0},
    "an FP8 cache": {"model.kv_cache_dtype": "fp8"},
    "another zone by its id": {"availability_zone": "usw2-az4"},
    "another region": {"region": "eu-north-1", "availability_zone": "eu-north-1a"},
    "a tail alone": {"slo": {"itl_p95_seconds": 0.02}},
    "a hybrid model": {
        **SMALL,
        "model.source": "Qwen/Qwen3.5-9B",
        "traffic.requests_per_second": 1.0,
    },
    "experts": {"model.source": "openai/gpt-oss-120b"},
    "latent attention": {
        "model.source": "deepseek-ai/DeepSeek-V3",
        "instance_types": ["p5en.48xlarge"],
        "slo": {"itl_p95_seconds": 0.05},
    },
    "a gated model": {
        "model.source": "meta-llama/Meta-Llama-3.1-70B",
        "hugging_face_token": {"secret_name": "hugging-face", "key": "token"},
        "slo": {"itl_p95_seconds": 0.05},
    },
    "hardly a token to compute, and much to hand over": {
        "model": {"source": "Qwen/Qwen3-8B", "max_model_len": 16384},
        "traffic": {
            "requests_per_second": 100.0,
            "prompt_tokens": 8000,
            "output_tokens": 150,
            "cached_prompt_fraction": 0.95,
            "prompt_variation": 0.2,
        },
        "instance_types": ["p5.48xlarge", "p4d.24xlarge"],
        "block_tokens": None,
        "slo": {"ttft_p95_seconds": 1.0, "itl_p95_seconds": 0.03},
    },
    "more requests than decode can post": {
        "model.source": "Qwen/Qwen3-8B",
        "traffic": {"requests_per_second": 5000.0, "prompt_tokens": 500, "output_tokens": 100},
        "instance_types": ["p5.48xlarge"],
        "block_tokens": None,
        "most_nodes": 1000,
        "slo": {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05},
    },
    "small links": {
        "model.source": "Qwen/Qwen3-8B",
        "traffic": {"requests_per_second": 20.0, "prompt_tokens": 1500, "output_tokens": 250},
        "instance_types": ["g6.8xlarge", "g6e.8xlarge"],
        "prices_per_hour": {"g6.8xlarge": 2.0, "g6e.8xlarge": 4.5},
        "block_tokens": None,
        "slo": {"ttft_p95_seconds": 3.0, "itl_p95_seconds": 0.1},
    },
    "small links without promises": {
        "model.source": "Qwen/Qwen3-8B",
        "traffic": {"requests_per_second": 20.0, "prompt_tokens": 1500, "output_tokens": 25},
        "instance_types": ["g6e.8xlarge"],
        "block_tokens": None,
        "slo": None,
    },
    "unequal types": {"instance_types": ["p5.48xlarge", "p6-b200.48xlarge"], "prices_per_hour": {}},
}


@pytest.mark.parametrize("name", ODD)
def test_what_is_written_plans_and_keeps_what_it_promises(name: str) -> None:
    found = size(workload_with(ODD[name]))
    best = found.options[0]
    planned = plan(found.workload.deployment(best.prefill, best.decode))
    codes = {finding.code for finding in planned.findings}
    assert codes <= OTHERS | ({"PD232"} if found.advice.verdict == "no" else set())
    assert (planned.prefill.replicas, planned.decode.replicas) == (best.prefill[1], best.decode[1])


@pytest.mark.parametrize(
    "changes",
    [
        {"traffic.requests_per_second": 1e6},
        {"most_nodes": 1},
        {"slo": {"ttft_p95_seconds": 0.06, "ttft_decode_seconds": 0.05}},
        {"instance_types": ["g7.48xlarge"], "model.source": "Qwen/Qwen3-8B", "slo": None},
    ],
)
def test_what_nothing_serves_is_said_in_a_line_for_each_type_and_one_more(changes: dict[str, Any]) -> None:
    workload = workload_with(changes)
    with pytest.raises(PlanError) as caught:
        size(workload)
    assert {finding.code for finding in caught.value.findings} == {"PD007"}
    types = len(workload.instance_types)
    assert len(caught.value.findings) == types + (types > 1)


def test_many_types_are_no_flood() -> None:
    types = ["g6.8xlarge", "g6e.48xlarge", "p4d.24xlarge", "p4de.24xlarge", "p5.48xlarge", "p5en.48xlarge"]
    changes: dict[str, Any] = {
        "instance_types": types,
        "prices_per_hour": {},
        "slo": None,
        "traffic.requests_per_second": 1e6,
    }
    with pytest.raises(PlanError) as caught:
        size(workload_with(changes))
    assert len(caught.value.findings) == 7
    assert "with two different types: none of the 30 pairs is enough either" in str(caught.value)
