from typing import Any

import pytest

from constructs_pd.planning.rules.pd151_certificate import RULE
from support.rules import findings_of
from support.specs import CERTIFICATE, COGNITO, INTERNET, JWT, OIDC

POLICY = "ELBSecurityPolicy-TLS13-1-3-2021-06"
PROMISES: dict[str, Any] = {
    "host": "llm.example.com",
    "tls_policy": POLICY,
    "oidc": OIDC,
    "cognito": COGNITO,
    "jwt": JWT,
}


def test_accepts_http_inside_and_tls_anywhere() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"endpoint": INTERNET}) == []
    assert findings_of(RULE, {"endpoint.balancer": {**PROMISES, "certificate_arn": CERTIFICATE}}) == []


def test_leaves_a_balancer_that_is_not_there_to_its_own_rule() -> None:
    assert findings_of(RULE, {"endpoint": {"balancer": PROMISES}}) == []


@pytest.mark.parametrize("field", PROMISES)
def test_refuses_what_needs_a_certificate_without_one(field: str) -> None:
    (finding,) = findings_of(RULE, {f"endpoint.balancer.{field}": PROMISES[field]})
    assert finding.subject == "endpoint.balancer.certificate_arn"
    assert f"0 certificates, HTTP only, and needs 1 for balancer.{field}" in finding.message


def test_refuses_the_internet_without_a_certificate_once_for_everything() -> None:
    balancer = {name: value for name, value in INTERNET["balancer"].items() if name != "certificate_arn"}
    (finding,) = findings_of(RULE, {"endpoint": {**INTERNET, "balancer": balancer}})
    assert "needs 1 for exposure 'internet_alb' and balancer.host and balancer.jwt" in finding.message
    assert "ACM certificate in us-west-2" in finding.remedy
