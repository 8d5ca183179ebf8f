from constructs_pd.planning.rules.pd143_gateway_namespace import RULE
from support.gateway import GATEWAY
from support.rules import findings_of


def test_accepts_a_name_that_leaves_room() -> None:
    assert findings_of(RULE, {"namespace": "a" * 55, "endpoint.gateway": GATEWAY}) == []


def test_refuses_a_longer_one() -> None:
    (finding,) = findings_of(RULE, {"namespace": "a" * 56, "endpoint.gateway": GATEWAY})
    assert finding.subject == "namespace"
    assert "has 64 characters, a namespace at most 63" in finding.message
    assert finding.remedy == "choose one of at most 55 characters"


def test_leaves_what_is_too_long_by_itself_to_its_own_rule() -> None:
    assert findings_of(RULE, {"namespace": "a" * 64, "endpoint.gateway": GATEWAY}) == []


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE, {"namespace": "a" * 63}) == []
