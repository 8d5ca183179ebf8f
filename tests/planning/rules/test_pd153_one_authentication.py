from constructs_pd.planning.rules.pd153_one_authentication import RULE
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import CERTIFICATE, COGNITO, JWT, OIDC

TLS = {"certificate_arn": CERTIFICATE}


def test_accepts_one_way_or_none() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"endpoint.balancer": {**TLS, "oidc": OIDC}}) == []


def test_refuses_two_ways_at_the_balancer() -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer": {**TLS, "oidc": OIDC, "cognito": COGNITO}})
    assert "2 ways of authentication at the load balancer (oidc, cognito), which has 1" in finding.message


def test_refuses_all_three_once() -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer": {**TLS, "oidc": OIDC, "cognito": COGNITO, "jwt": JWT}})
    assert "3 ways" in finding.message


def test_refuses_a_token_where_the_gateway_wants_a_key() -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer": {**TLS, "jwt": JWT}, "endpoint.gateway": GATEWAY})
    assert finding.subject == "endpoint.balancer.jwt"
    assert "2 values for 1 Authorization header" in finding.message
    assert findings_of(RULE, {"endpoint.balancer": {**TLS, "oidc": OIDC}, "endpoint.gateway": GATEWAY}) == []
