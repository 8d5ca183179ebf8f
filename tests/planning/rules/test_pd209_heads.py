from typing import Any

import pytest

from constructs_pd.planning.rules.pd209_heads import RULE
from support.rules import findings_of
from support.specs import MODEL_ROW


def model(attention_heads: int, kv_heads: int, size: int) -> dict[str, Any]:
    return {
        "model": {"source": "acme/own-7b"},
        "custom_models": [{**MODEL_ROW, "attention_heads": attention_heads, "kv_heads": kv_heads}],
        "decode": {"instance_type": "p5.48xlarge", "tensor_parallel": size},
    }


@pytest.mark.parametrize(("heads", "kv_heads", "size"), [(32, 8, 8), (32, 2, 8), (32, 8, 1), (24, 6, 3), (24, 3, 6)])
def test_accepts_sizes_that_divide_or_repeat_the_heads(heads: int, kv_heads: int, size: int) -> None:
    assert findings_of(RULE, model(heads, kv_heads, size)) == []


def test_refuses_query_heads_that_do_not_split() -> None:
    (finding,) = findings_of(RULE, model(28, 4, 8))
    assert finding.message == "28 attention heads of acme/own-7b do not split over 8 GPUs"


def test_refuses_kv_heads_that_neither_split_nor_repeat() -> None:
    (finding,) = findings_of(RULE, model(24, 3, 8))
    assert finding.message == "3 KV heads of acme/own-7b neither split over 8 GPUs nor repeat on them"


def test_leaves_unknown_rows_to_their_own_rules() -> None:
    assert findings_of(RULE, {"model.source": "a/b"}) == []
    assert findings_of(RULE, {"decode.instance_type": "x"}) == []
