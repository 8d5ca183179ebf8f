from constructs_pd.planning.rules.pd201_instance_type import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


def test_accepts_types_of_the_catalogue() -> None:
    assert findings_of(RULE, {"decode.instance_type": "p5.48xlarge"}) == []


def test_refuses_an_unknown_type_and_names_near_ones() -> None:
    (finding,) = findings_of(RULE, {"prefill.instance_type": "g6.8xlrge"})
    assert finding.subject == "prefill.instance_type"
    assert "'g6.8xlrge'" in finding.message
    assert "perhaps g6.8xlarge" in finding.remedy
    assert "custom_instances" in finding.remedy


def test_lists_all_types_where_none_is_near() -> None:
    (finding,) = findings_of(RULE, {"prefill.instance_type": "trn2"})
    assert "known are g6.8xlarge, p5.48xlarge" in finding.remedy


def test_reports_each_phase() -> None:
    findings = findings_of(RULE, {"prefill.instance_type": "x", "decode.instance_type": "x"})
    assert [finding.subject for finding in findings] == ["prefill.instance_type", "decode.instance_type"]


def test_accepts_a_type_whose_numbers_the_user_gives() -> None:
    changes = {"prefill.instance_type": "g6.12xlarge", "custom_instances": [FOUR_GPU_ROW]}
    assert findings_of(RULE, changes) == []
