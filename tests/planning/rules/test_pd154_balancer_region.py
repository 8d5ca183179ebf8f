from constructs_pd.planning.rules.pd154_balancer_region import RULE
from support.rules import findings_of
from support.specs import CERTIFICATE, COGNITO

ELSEWHERE = CERTIFICATE.replace("us-west-2", "us-east-1")
POOL = COGNITO["user_pool_arn"].replace("us-west-2", "eu-west-1")


def test_accepts_arns_of_the_region_and_none() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"endpoint.balancer": {"certificate_arn": CERTIFICATE, "cognito": COGNITO}}) == []


def test_refuses_a_certificate_of_another_region() -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer.certificate_arn": ELSEWHERE})
    assert finding.subject == "endpoint.balancer.certificate_arn"
    assert finding.message == "a certificate of us-east-1, the load balancer lies in us-west-2"


def test_refuses_a_user_pool_of_another_region() -> None:
    stated = {"certificate_arn": CERTIFICATE, "cognito": {**COGNITO, "user_pool_arn": POOL}}
    (finding,) = findings_of(RULE, {"endpoint.balancer": stated})
    assert finding.subject == "endpoint.balancer.cognito.user_pool_arn"
    assert finding.message == "a user pool of eu-west-1, the load balancer lies in us-west-2"
