import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd201_instance_type import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


@pytest.mark.parametrize("name", load_catalog().instances)
def test_accepts_types_of_the_catalogue(name: str) -> None:
    assert findings_of(RULE, {"decode.instance_type": name}) == []


def test_refuses_an_unknown_type_and_names_near_ones() -> None:
    (finding,) = findings_of(RULE, {"prefill.instance_type": "g6.8xlrge"})
    assert finding.subject == "prefill.instance_type"
    assert "'g6.8xlrge'" in finding.message
    assert "perhaps g6.8xlarge" in finding.remedy
    assert "custom_instances" in finding.remedy


def test_lists_all_types_where_none_is_near() -> None:
    (finding,) = findings_of(RULE, {"prefill.instance_type": "x"})
    assert "known are g5.12xlarge, " in finding.remedy


@pytest.mark.parametrize(
    ("name", "reason"), [("g6.4xlarge", "no EFA"), ("g5g.16xlarge", "arm64"), ("c7i.large", "no GPU")]
)
def test_says_why_where_that_is_known(name: str, reason: str) -> None:
    (finding,) = findings_of(RULE, {"prefill.instance_type": name})
    assert reason in finding.message


def test_reports_each_phase() -> None:
    findings = findings_of(RULE, {"prefill.instance_type": "x", "decode.instance_type": "x"})
    assert [finding.subject for finding in findings] == ["prefill.instance_type", "decode.instance_type"]


def test_accepts_a_type_whose_numbers_the_user_gives() -> None:
    own = {**FOUR_GPU_ROW, "instance_type": "own.1"}
    changes = {"prefill.instance_type": "own.1", "custom_instances": [own]}
    assert findings_of(RULE, changes) == []


def test_a_row_of_ones_own_does_not_make_an_unsuitable_type_serve() -> None:
    row = {**FOUR_GPU_ROW, "instance_type": "p6e-gb200.36xlarge"}
    (finding,) = findings_of(RULE, {"custom_instances": [row], "decode.instance_type": row["instance_type"]})
    assert "its CPU is arm64" in finding.message
    assert "custom_instances" not in finding.remedy


def test_a_row_of_ones_own_speaks_for_a_new_size_of_a_family() -> None:
    row = {**FOUR_GPU_ROW, "instance_type": "g6.96xlarge"}
    assert findings_of(RULE, {"custom_instances": [row], "decode.instance_type": row["instance_type"]}) == []
