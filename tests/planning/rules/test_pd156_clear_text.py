import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules import pd156_clear_text
from constructs_pd.planning.rules.pd156_clear_text import RULE
from support.rules import findings_of
from support.specs import CERTIFICATE


def test_says_nothing_where_no_keys_are_sent() -> None:
    assert findings_of(RULE) == []


def test_warns_of_keys_that_cross_the_network_in_clear_text(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pd156_clear_text, "has_keys", lambda endpoint: True)
    (finding,) = findings_of(RULE)
    assert finding.severity is Severity.WARNING
    assert "a load balancer with 0 certificates, in clear text" in finding.message
    assert findings_of(RULE, {"endpoint.balancer.certificate_arn": CERTIFICATE}) == []
    assert findings_of(RULE, {"endpoint": None}) == []
