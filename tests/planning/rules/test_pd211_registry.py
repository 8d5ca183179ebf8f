from constructs_pd.planning.rules.pd211_registry import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW

GOVCLOUD = {"region": "us-gov-west-1", "availability_zone": "us-gov-west-1a"}


def test_accepts_a_region_whose_account_is_known() -> None:
    assert findings_of(RULE, {"region": "af-south-1"}) == []


def test_refuses_a_region_whose_account_is_not() -> None:
    (finding,) = findings_of(RULE, GOVCLOUD)
    assert finding.subject == "image.registry"
    assert "us-gov-west-1" in finding.message
    assert "(36 are)" in finding.message


def test_accepts_the_public_registry_anywhere() -> None:
    assert findings_of(RULE, {**GOVCLOUD, "image": {"registry": "public"}}) == []


def test_accepts_an_image_of_ones_own_anywhere_and_leaves_unknown_ones_to_their_own_rule() -> None:
    assert findings_of(RULE, {**GOVCLOUD, "image": {"tag": "own-1.0.0"}, "custom_images": [IMAGE_ROW]}) == []
    assert findings_of(RULE, {**GOVCLOUD, "image": {"tag": "unknown"}}) == []
