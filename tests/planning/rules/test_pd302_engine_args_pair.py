import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd302_engine_args_pair import COMPARED, RULE
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


def test_every_compared_name_is_one_that_vllm_knows() -> None:
    assert set(COMPARED) <= load_catalog().engine_arguments["0.26.0"].engine
