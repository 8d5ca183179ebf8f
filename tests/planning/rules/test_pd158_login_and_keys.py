from __future__ import annotations

from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd158_login_and_keys import RULE
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import CERTIFICATE, COGNITO, JWT, OIDC


def stated(**ways: Any) -> dict[str, Any]:
    return {"endpoint.exposure": "internal_alb", "endpoint.balancer": {"certificate_arn": CERTIFICATE, **ways}}


@pytest.mark.parametrize("ways", [{}, {"oidc": OIDC}, {"cognito": COGNITO}, {"jwt": JWT}])
def test_accepts_one_way(ways: dict[str, Any]) -> None:
    assert findings_of(RULE, stated(**ways)) == []
    assert findings_of(RULE, {**stated(), "endpoint.gateway": GATEWAY}) == []


@pytest.mark.parametrize("ways", [{"oidc": OIDC}, {"cognito": COGNITO}])
def test_warns_of_a_login_in_front_of_keys(ways: dict[str, Any]) -> None:
    (finding,) = findings_of(RULE, {**stated(**ways), "endpoint.gateway": GATEWAY})
    assert finding.severity is Severity.WARNING
    assert finding.subject == f"endpoint.balancer.{next(iter(ways))}"
    assert "a key and no cookie" in finding.message
