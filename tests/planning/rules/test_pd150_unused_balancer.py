from constructs_pd.planning.rules.pd150_unused_balancer import RULE
from support.rules import findings_of
from support.specs import CERTIFICATE

STATED = {"host": "llm.example.com", "certificate_arn": CERTIFICATE}


def test_accepts_an_endpoint_without_one_and_a_balancer_with_it() -> None:
    assert findings_of(RULE, {"endpoint": None}) == []
    assert findings_of(RULE, {"endpoint": {"balancer": {}}}) == []
    assert findings_of(RULE, {"endpoint": {"exposure": "internal_alb", "balancer": STATED}}) == []


def test_refuses_fields_of_a_balancer_that_is_not_there() -> None:
    (finding,) = findings_of(RULE, {"endpoint": {"balancer": STATED}})
    assert finding.subject == "endpoint.balancer"
    assert "2 fields of a load balancer (certificate_arn, host), but exposure is 'cluster'" in finding.message
