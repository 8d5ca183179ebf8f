from typing import Any

import pytest

from constructs_pd.planning.rules.pd104_acknowledge import RULE
from support.rules import findings_of


def acknowledging(*codes: str) -> dict[str, Any]:
    return {"acknowledge": [{"code": code, "reason": "because"} for code in codes]}


@pytest.mark.parametrize(
    "codes", [(), ("PD206",), ("PD204", "PD206", "PD403"), ("PD412/vllm-52234", "PD412/vllm-50765")]
)
def test_accepts_warnings_that_exist(codes: tuple[str, ...]) -> None:
    assert findings_of(RULE, acknowledging(*codes)) == []


def test_refuses_a_code_that_no_rule_has() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD206", "PD999"))
    assert finding.subject == "acknowledge.1.code"
    assert "no rule PD999" in finding.message


def test_refuses_to_acknowledge_an_error() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD101"))
    assert "is an error" in finding.message


def test_refuses_the_same_code_twice() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD206", "PD206"))
    assert "more than once" in finding.message


def test_refuses_a_defect_that_nobody_knows_and_names_one_like_it() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD412/vllm-52235"))
    assert finding.subject == "acknowledge.0.code"
    assert "'vllm-52235' is none of the" in finding.message
    assert "vllm-52234" in finding.remedy


def test_refuses_all_defects_at_once() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD412"))
    assert "an acknowledgement for one" in finding.message


def test_refuses_a_defect_with_which_the_deployment_could_not_work() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD412/flashinfer-3578"))
    assert "is an error" in finding.message


def test_refuses_an_id_behind_a_rule_that_has_none() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD206/vllm-52234"))
    assert finding.remedy == "write PD206"


def test_refuses_the_same_defect_twice() -> None:
    (finding,) = findings_of(RULE, acknowledging("PD412/vllm-52234", "PD412/vllm-52234"))
    assert finding.subject == "acknowledge.1.code"
    assert "more than once" in finding.message
