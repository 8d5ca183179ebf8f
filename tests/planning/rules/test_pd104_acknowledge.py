from typing import Any

import pytest

from constructs_pd.planning.rules.pd104_acknowledge import RULE
from support.rules import findings_of


def acknowledging(*codes: str) -> dict[str, Any]:
    return {"acknowledge": [{"code": code, "reason": "because"} for code in codes]}


@pytest.mark.parametrize("codes", [(), ("PD206",), ("PD204", "PD206", "PD403")])
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
