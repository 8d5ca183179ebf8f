import pytest

from constructs_pd.planning.rules.pd101_name import RULE
from support.rules import findings_of


@pytest.mark.parametrize("name", ["q", "qwen35-9b", "q" * 47])
def test_accepts_a_label_of_up_to_47_characters(name: str) -> None:
    assert findings_of(RULE, {"name": name}) == []


def test_refuses_48_characters_with_both_numbers_and_a_name_that_fits() -> None:
    (finding,) = findings_of(RULE, {"name": "q" * 48})
    assert (finding.code, finding.subject) == ("PD101", "name")
    assert "48" in finding.message
    assert "47" in finding.message
    assert findings_of(RULE, {"name": finding.remedy.split("'")[1]}) == []


@pytest.mark.parametrize("name", ["", "9b", "Qwen", "qwen.5", "qwen_5", "-q", "q-", "q\n", "qwén"])
def test_refuses_what_is_not_a_dns_1035_label(name: str) -> None:
    (finding,) = findings_of(RULE, {"name": name})
    assert "DNS-1035" in finding.message


def test_reports_a_name_that_is_too_long_and_of_the_wrong_shape_twice() -> None:
    assert len(findings_of(RULE, {"name": "Q" * 48})) == 2


@pytest.mark.parametrize("name", ["kubernetes", "default"])
def test_refuses_names_of_objects_that_kubernetes_owns(name: str) -> None:
    (finding,) = findings_of(RULE, {"name": name})
    assert finding.message == f"{name!r} names an object that Kubernetes owns"


def test_an_operator_that_is_not_known_leaves_the_length_open() -> None:
    assert findings_of(RULE, {"name": "q" * 48, "kuberay_version": "1.9.0"}) == []
