from typing import Any

import pytest

from constructs_pd.planning.rules.pd213_custom_instance import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


def row(**changes: Any) -> dict[str, Any]:
    return {"custom_instances": [{**FOUR_GPU_ROW, **changes}]}


def test_accepts_parts_up_to_their_whole() -> None:
    efa = {"interfaces": 2, "network_cards": 2, "bandwidth_gbps": 40}
    assert findings_of(RULE, row()) == []
    assert findings_of(RULE, row(efa=efa, allocatable_cpu_millicores=48000, allocatable_memory_mib=196608)) == []


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (
            {"efa": {"interfaces": 2, "network_cards": 1, "bandwidth_gbps": 40}},
            "2 is more than g6.12xlarge's network_cards from first_efa_card on, 1",
        ),
        (
            {"efa": {"interfaces": 8, "network_cards": 8, "first_efa_card": 1, "bandwidth_gbps": 400}},
            "8 is more than g6.12xlarge's network_cards from first_efa_card on, 7",
        ),
        ({"allocatable_cpu_millicores": 48001}, "48,001 is more than g6.12xlarge's vcpus in thousandths, 48,000"),
        ({"allocatable_memory_mib": 196609}, "196,609 is more than g6.12xlarge's memory_mib, 196,608"),
    ],
)
def test_refuses_a_part_above_its_whole(changes: dict[str, Any], message: str) -> None:
    (finding,) = findings_of(RULE, row(**changes))
    assert finding.message == message
