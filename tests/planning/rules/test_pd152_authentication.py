from typing import Any

import pytest

from constructs_pd.planning.rules.pd152_authentication import RULE
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import CERTIFICATE, COGNITO, JWT, OIDC

LOGINS: dict[str, Any] = {"oidc": OIDC, "cognito": COGNITO, "jwt": JWT}


@pytest.mark.parametrize("exposure", ["cluster", "internal_alb"])
def test_accepts_an_endpoint_inside_without_authentication(exposure: str) -> None:
    assert findings_of(RULE, {"endpoint": {"exposure": exposure}}) == []


@pytest.mark.parametrize("login", LOGINS)
def test_accepts_the_internet_with_any_way_of_authentication(login: str) -> None:
    stated = {"certificate_arn": CERTIFICATE, login: LOGINS[login]}
    assert findings_of(RULE, {"endpoint": {"exposure": "internet_alb", "balancer": stated}}) == []


def test_accepts_the_internet_with_keys() -> None:
    assert findings_of(RULE, {"endpoint": {"exposure": "internet_alb", "gateway": GATEWAY}}) == []


def test_refuses_the_internet_without_one() -> None:
    stated = {"certificate_arn": CERTIFICATE}
    (finding,) = findings_of(RULE, {"endpoint": {"exposure": "internet_alb", "balancer": stated}})
    assert "'internet_alb' with 0 ways of authentication" in finding.message
