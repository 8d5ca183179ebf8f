import pytest

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.facts import gather
from constructs_pd.planning.rules.pd142_divided_limits import LIMITS, RULE, worked
from support.gateway import GATEWAY
from support.rules import findings_of
from support.specs import spec_with


def limited(**limits: int) -> dict[str, object]:
    return {"endpoint.gateway": {**GATEWAY, **limits}}


@pytest.mark.parametrize("limit", LIMITS)
def test_accepts_a_limit_of_one_for_each_replica(limit: str) -> None:
    assert findings_of(RULE, limited(**{limit: 3, "replicas": 3})) == []


@pytest.mark.parametrize("limit", LIMITS)
def test_refuses_a_smaller_one(limit: str) -> None:
    (finding,) = findings_of(RULE, limited(**{limit: 4, "replicas": 5}))
    assert finding.subject == f"endpoint.gateway.{limit}"
    assert "4 divided over 5 replicas" in finding.message
    assert finding.remedy == "raise it to 5 or more"


def test_says_how_the_limits_are_divided() -> None:
    facts = gather(spec_with(limited(replicas=3, requests_per_minute=100)), load_catalog())
    assert list(worked(facts)) == [
        "requests_per_minute: 100 / 3 replicas = 33 each, 99 together",
        "concurrent_requests: 100 / 3 replicas = 33 each, 99 together",
    ]
    assert list(worked(gather(spec_with(), load_catalog()))) == ["there is no gateway"]
