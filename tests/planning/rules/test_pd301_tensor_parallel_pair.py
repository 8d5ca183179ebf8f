from typing import Any

import pytest

from constructs_pd.planning.rules.pd301_tensor_parallel_pair import RULE
from support.rules import findings_of

PLAIN = {"model": {"source": "Qwen/Qwen3-8B"}}


def sizes(prefill: int, decode: int) -> dict[str, Any]:
    return {
        "prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": prefill},
        "decode": {"instance_type": "p5.48xlarge", "tensor_parallel": decode},
    }


@pytest.mark.parametrize(("prefill", "decode"), [(1, 1), (4, 4), (1, 8), (2, 4)])
def test_accepts_on_a_plain_model_a_size_that_divides(prefill: int, decode: int) -> None:
    assert findings_of(RULE, {**PLAIN, **sizes(prefill, decode)}) == []


@pytest.mark.parametrize(("prefill", "decode"), [(2, 1), (8, 4), (3, 4)])
def test_refuses_on_a_plain_model_what_does_not(prefill: int, decode: int) -> None:
    (finding,) = findings_of(RULE, {**PLAIN, **sizes(prefill, decode)})
    assert finding.message == f"prefill {prefill}, decode {decode}: prefill's must divide decode's"


def test_accepts_on_a_hybrid_model_equal_sizes_only() -> None:
    assert findings_of(RULE, sizes(8, 8)) == []
    (finding,) = findings_of(RULE, sizes(4, 8))
    assert "hybrid" in finding.message
    assert "set both to 8" in finding.remedy


def test_compares_the_defaults_where_no_size_is_given() -> None:
    (finding,) = findings_of(RULE, {"decode": {"instance_type": "p5.48xlarge"}})
    assert "prefill 1, decode 8" in finding.message


def test_leaves_unknown_rows_to_their_own_rules() -> None:
    assert findings_of(RULE, {"decode.instance_type": "x"}) == []
    assert findings_of(RULE, {"model.source": "a/b", **sizes(2, 1)}) == []
