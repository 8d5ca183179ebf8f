from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd157_access_logs import RULE
from support.rules import findings_of
from support.specs import INTERNET


def test_accepts_access_logs_and_endpoints_inside() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, {"endpoint": INTERNET}) == []


def test_warns_of_an_endpoint_on_the_internet_without_them() -> None:
    (finding,) = findings_of(RULE, {"endpoint": INTERNET, "endpoint.balancer.access_logs": None})
    assert finding.severity is Severity.WARNING
    assert "writes 0 access logs" in finding.message
