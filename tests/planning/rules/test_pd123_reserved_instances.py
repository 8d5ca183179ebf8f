import pytest

from constructs_pd.planning.rules.pd123_reserved_instances import RULE
from support.rules import findings_of
from support.specs import reserved


@pytest.mark.parametrize("instances", [3, 4])
def test_accepts_an_instance_for_every_node(instances: int) -> None:
    assert findings_of(RULE, {**reserved("decode", instance_count=instances), "decode.max_nodes": 3}) == []


def test_refuses_one_instance_too_few_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {**reserved("decode", instance_count=3), "decode.max_nodes": 4})
    assert finding.subject == "decode.reservation.instance_count"
    assert finding.message == "cr-0123456789abcdef0 holds 3 instances, decode may have 4 nodes"


@pytest.mark.parametrize(("instances", "messages"), [(5, []), (4, ["prefill and decode may have 5 nodes"])])
def test_counts_the_nodes_of_both_phases_in_one_reservation(instances: int, messages: list[str]) -> None:
    both = {**reserved("prefill", instance_count=instances), **reserved("decode", instance_count=instances)}
    findings = findings_of(RULE, {**both, "prefill.replicas": 2, "decode.replicas": 3})
    assert [finding.message.split(", ")[1] for finding in findings] == messages


def test_counts_two_reservations_one_by_one() -> None:
    other = reserved("prefill", id="cr-0123456789abcdef1", instance_count=1)
    assert findings_of(RULE, {**other, **reserved("decode", instance_count=1)}) == []
