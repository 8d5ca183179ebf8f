from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd156_clear_text import RULE
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import CERTIFICATE


def test_says_nothing_where_no_keys_are_sent() -> None:
    assert findings_of(RULE) == []


def test_warns_of_keys_that_cross_the_network_in_clear_text() -> None:
    keys = {"endpoint.gateway": GATEWAY}
    (finding,) = findings_of(RULE, keys)
    assert finding.severity is Severity.WARNING
    assert "a load balancer with 0 certificates, in clear text" in finding.message
    assert findings_of(RULE, {**keys, "endpoint.balancer.certificate_arn": CERTIFICATE}) == []
    assert findings_of(RULE, {"endpoint": {"gateway": GATEWAY}}) == []
