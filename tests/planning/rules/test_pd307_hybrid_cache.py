from typing import Any

import pytest

from constructs_pd.planning.rules.pd307_hybrid_cache import RULE
from support.rules import findings_of

PREFIXES = {"enable_prefix_caching": True}


def both(arguments: dict[str, Any]) -> dict[str, Any]:
    return {"prefill.engine_args": arguments, "decode.engine_args": arguments}


@pytest.mark.parametrize(
    "arguments",
    [
        {},
        PREFIXES,
        {**PREFIXES, "mamba_block_size": 1024},
        {**PREFIXES, "enable_chunked_prefill": True},
        {"enable_chunked_prefill": False},
        {"mamba_block_size": None},
    ],
)
def test_accepts_settings_that_go_together(arguments: dict[str, Any]) -> None:
    assert findings_of(RULE, both(arguments)) == []


def test_refuses_blocks_of_states_without_prefix_caching() -> None:
    prefill, decode = findings_of(RULE, both({"mamba_block_size": 1024}))
    assert prefill.subject == "prefill.engine_args.mamba_block_size"
    assert decode.message.startswith("1024 without enable_prefix_caching")


def test_refuses_prefix_caching_of_whole_prompts() -> None:
    (finding,) = findings_of(RULE, {"decode.engine_args": {**PREFIXES, "enable_chunked_prefill": False}})
    assert finding.subject == "decode.engine_args.enable_chunked_prefill"


def test_leaves_other_models_alone() -> None:
    arguments = both({**PREFIXES, "enable_chunked_prefill": False})
    for source in ("Qwen/Qwen3-8B", "nobody/nothing"):
        assert findings_of(RULE, {"model": {"source": source}, **arguments}) == []
