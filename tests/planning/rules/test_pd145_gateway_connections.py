from constructs_pd.planning.rules.pd145_gateway_connections import RULE
from support.gateway import GATEWAY
from support.rules import findings_of


def at_once(requests: int, replicas: int) -> dict[str, object]:
    return {"endpoint.gateway": {**GATEWAY, "concurrent_requests": requests, "replicas": replicas}}


def test_accepts_as_many_as_a_replica_holds() -> None:
    assert findings_of(RULE, at_once(4000, 2)) == []


def test_refuses_more() -> None:
    (finding,) = findings_of(RULE, at_once(4002, 2))
    assert finding.subject == "endpoint.gateway.concurrent_requests"
    assert "2,001 requests of one key for each of 2 replicas, which hold 2,000 connections each" in finding.message
    assert finding.remedy == "lower it to 4,000, or have more replicas"


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE) == []
