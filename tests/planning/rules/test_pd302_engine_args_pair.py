import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd302_engine_args_pair import COMPARED, COMPARED_ON_HYBRIDS, RULE
from support.rules import findings_of


def test_accepts_equal_arguments_and_free_ones_that_differ() -> None:
    changes = {
        "prefill.engine_args": {"block_size": 32, "seed": 1},
        "decode.engine_args": {"block_size": 32, "seed": 4},
    }
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize("decode", [{}, {"block_size": 16}])
def test_refuses_compared_arguments_that_differ_or_stand_on_one_side(decode: dict[str, int]) -> None:
    (finding,) = findings_of(RULE, {"prefill.engine_args": {"block_size": 32}, "decode.engine_args": decode})
    assert finding.subject == "decode.engine_args.block_size"
    assert "prefill has 32" in finding.message


def test_refuses_a_draft_model_on_one_side() -> None:
    changes = {"decode.engine_args": {"speculative_config": {"method": "mtp", "num_speculative_tokens": 1}}}
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == "decode.engine_args.speculative_config"


def test_prefix_caching_may_differ_unless_the_model_is_hybrid() -> None:
    changes = {"decode.engine_args": {"enable_prefix_caching": False}}
    (finding,) = findings_of(RULE, changes)
    assert finding.subject == "decode.engine_args.enable_prefix_caching"
    assert findings_of(RULE, {**changes, "model": {"source": "Qwen/Qwen3-8B"}}) == []


def test_accepts_what_vllm_reads_as_equal_and_other_ways_to_load_the_weights() -> None:
    changes = {
        "prefill.engine_args": {"attention_backend": "FLASH_ATTN", "load_format": "runai_streamer"},
        "decode.engine_args": {"attention_backend": "flash_attn"},
    }
    assert findings_of(RULE, changes) == []


def test_every_compared_name_is_one_that_vllm_knows() -> None:
    assert {*COMPARED, *COMPARED_ON_HYBRIDS} <= load_catalog().engine_arguments["0.26.0"].engine
