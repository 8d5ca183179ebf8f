import pytest

from constructs_pd.planning.rules.pd405_moving_tag import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW


def own(tag: str, **image: str) -> dict[str, object]:
    return {"image": {"tag": tag, **image}, "custom_images": [{**IMAGE_ROW, "tag": tag}]}


@pytest.mark.parametrize("tag", ["serve-1.0.0", "v1.2.3-cuda", "20261129", "build-20261129", "3f2a9c1"])
def test_accepts_tags_that_end_in_a_version_a_date_or_a_commit(tag: str) -> None:
    assert findings_of(RULE, own(tag)) == []


@pytest.mark.parametrize("tag", ["latest", "serve", "v1", "v1.0", "serve-llm-cuda"])
def test_refuses_tags_that_move(tag: str) -> None:
    (finding,) = findings_of(RULE, own(tag))
    assert repr(tag) in finding.message


def test_accepts_a_moving_tag_that_a_digest_pins() -> None:
    assert findings_of(RULE, own("latest", digest="sha256:" + "0" * 64)) == []


def test_leaves_an_unknown_tag_to_its_own_rule() -> None:
    assert findings_of(RULE, {"image": {"tag": "latest"}}) == []
