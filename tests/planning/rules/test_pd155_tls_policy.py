import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.rules.pd155_tls_policy import RULE
from constructs_pd.planning.spec_balancer import DEFAULT_TLS_POLICY
from support.rules import findings_of

POLICIES = load_catalog().tls_policies


def test_accepts_the_default() -> None:
    assert POLICIES[DEFAULT_TLS_POLICY].least_tls == "1.2"
    assert findings_of(RULE) == []


@pytest.mark.parametrize("policy", [row.policy for row in POLICIES.values() if row.least_tls in ("1.2", "1.3")])
def test_accepts_policies_of_tls_12_and_later(policy: str) -> None:
    assert findings_of(RULE, {"endpoint.balancer.tls_policy": policy}) == []


@pytest.mark.parametrize(
    ("policy", "version"), [("ELBSecurityPolicy-2016-08", "1.0"), ("ELBSecurityPolicy-TLS-1-1-2017-01", "1.1")]
)
def test_refuses_policies_that_accept_older_versions(policy: str, version: str) -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer.tls_policy": policy})
    assert finding.message == f"{policy} accepts TLS {version}, the least is 1.2"


def test_refuses_a_policy_that_nobody_knows() -> None:
    (finding,) = findings_of(RULE, {"endpoint.balancer.tls_policy": "ELBSecurityPolicy-TLS14"})
    assert f"'ELBSecurityPolicy-TLS14' is none of the {len(POLICIES)} security policies" in finding.message
    assert DEFAULT_TLS_POLICY in finding.remedy
    assert "ELBSecurityPolicy-2016-08" not in finding.remedy
