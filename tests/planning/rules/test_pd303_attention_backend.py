from typing import Any

import pytest

from constructs_pd.planning.rules.pd303_attention_backend import RULE
from support.rules import findings_of


def pair(prefill: str, decode: str, kv_cache_dtype: str = "auto") -> dict[str, Any]:
    return {
        "model": {"source": "Qwen/Qwen3-8B", "kv_cache_dtype": kv_cache_dtype},
        "prefill.instance_type": prefill,
        "decode.instance_type": decode,
    }


@pytest.mark.parametrize(
    ("prefill", "decode", "kv_cache_dtype"),
    [
        ("g6.8xlarge", "p5.48xlarge", "auto"),
        ("g6.8xlarge", "g6e.8xlarge", "fp8"),
        ("p6-b200.48xlarge", "p6-b300.48xlarge", "auto"),
        ("p5.48xlarge", "p5en.48xlarge", "fp8"),
    ],
)
def test_accepts_gpus_on_which_one_backend_is_chosen(prefill: str, decode: str, kv_cache_dtype: str) -> None:
    assert findings_of(RULE, pair(prefill, decode, kv_cache_dtype)) == []


@pytest.mark.parametrize(
    ("prefill", "decode", "kv_cache_dtype"),
    [
        ("p6-b200.48xlarge", "p5.48xlarge", "auto"),
        ("g6.8xlarge", "p5.48xlarge", "fp8"),
        ("p5.48xlarge", "p6-b200.48xlarge", "fp8"),
    ],
)
def test_refuses_gpus_on_which_two_are_chosen(prefill: str, decode: str, kv_cache_dtype: str) -> None:
    (finding,) = findings_of(RULE, pair(prefill, decode, kv_cache_dtype))
    assert finding.subject == "prefill.instance_type"
    assert "FLASHINFER" in finding.message
    assert "FLASH_ATTN" in finding.message


def test_leaves_a_stated_backend_to_the_rule_that_compares_both_sides() -> None:
    stated = {"attention_backend": "FLASH_ATTN"}
    changes = pair("p6-b200.48xlarge", "p5.48xlarge")
    assert findings_of(RULE, {**changes, "prefill.engine_args": stated, "decode.engine_args": stated}) == []


@pytest.mark.parametrize(
    "arguments",
    [{"attention_backend": "auto"}, {"attention_backend": None}, {"attention_config": {}}],
)
def test_what_states_no_backend_does_not_count(arguments: dict[str, Any]) -> None:
    changes = pair("p6-b200.48xlarge", "p5.48xlarge")
    both = {"prefill.engine_args": arguments, "decode.engine_args": arguments}
    (finding,) = findings_of(RULE, {**changes, **both})
    assert "attention_backend: FLASH_ATTN in engine_args of both" in finding.remedy


def test_the_remedy_names_a_backend_that_reads_the_cache_type() -> None:
    (finding,) = findings_of(RULE, pair("g6.8xlarge", "p5.48xlarge", "fp8"))
    assert "attention_backend: FLASHINFER" in finding.remedy


def test_a_backend_in_the_attention_config_counts() -> None:
    stated = {"attention_config": {"backend": "FLASH_ATTN"}}
    changes = pair("p6-b200.48xlarge", "p5.48xlarge")
    assert findings_of(RULE, {**changes, "prefill.engine_args": stated, "decode.engine_args": stated}) == []


def of_model(source: str, prefill: str, decode: str, kv_cache_dtype: str = "auto") -> dict[str, Any]:
    return {**pair(prefill, decode, kv_cache_dtype), "model": {"source": source, "kv_cache_dtype": kv_cache_dtype}}


@pytest.mark.parametrize(
    ("prefill", "decode", "kv_cache_dtype", "first", "second"),
    [
        ("p4de.24xlarge", "p5.48xlarge", "auto", "TRITON_MLA", "FLASH_ATTN_MLA"),
        ("p5.48xlarge", "p6-b200.48xlarge", "auto", "FLASH_ATTN_MLA", "FLASHINFER_MLA"),
        ("p5.48xlarge", "g7e.48xlarge", "fp8", "FLASHMLA", "TRITON_MLA"),
    ],
)
def test_latent_attention_has_backends_of_its_own(
    prefill: str, decode: str, kv_cache_dtype: str, first: str, second: str
) -> None:
    (finding,) = findings_of(RULE, of_model("deepseek-ai/DeepSeek-R1", prefill, decode, kv_cache_dtype))
    assert f"chooses {first} on prefill's" in finding.message
    assert f"and {second} on decode's" in finding.message
    assert "attention_backend: TRITON_MLA" in finding.remedy


def test_latent_attention_on_ampere_and_ada_has_one() -> None:
    assert findings_of(RULE, of_model("deepseek-ai/DeepSeek-R1", "p4de.24xlarge", "g6e.48xlarge")) == []


@pytest.mark.parametrize(
    ("prefill", "decode", "refused"),
    [("g6e.48xlarge", "p5.48xlarge", 1), ("p4de.24xlarge", "g7e.8xlarge", 0), ("p5.48xlarge", "p6-b200.48xlarge", 1)],
)
def test_attention_sinks_need_flash_attention_3(prefill: str, decode: str, refused: int) -> None:
    assert len(findings_of(RULE, of_model("openai/gpt-oss-20b", prefill, decode))) == refused


def test_what_is_not_known_is_left_to_the_rule_that_says_so() -> None:
    assert findings_of(RULE, of_model("deepseek-ai/DeepSeek-V3.2", "p5.48xlarge", "p6-b200.48xlarge")) == []
    assert findings_of(RULE, of_model("nobody/nothing", "p5.48xlarge", "p6-b200.48xlarge")) == []
