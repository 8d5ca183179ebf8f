from typing import Any

import pytest

from constructs_pd.planning.rules.pd308_cache_scales import RULE
from support.rules import findings_of


@pytest.mark.parametrize("arguments", [{}, {"calculate_kv_scales": False}, {"calculate_kv_scales": None}])
def test_accepts_scales_of_the_checkpoint(arguments: dict[str, Any]) -> None:
    assert findings_of(RULE, {"decode.engine_args": arguments}) == []


def test_refuses_scales_that_each_engine_measures() -> None:
    arguments = {"calculate_kv_scales": True}
    found = findings_of(RULE, {"prefill.engine_args": arguments, "decode.engine_args": arguments})
    assert [finding.subject for finding in found] == [
        "prefill.engine_args.calculate_kv_scales",
        "decode.engine_args.calculate_kv_scales",
    ]
