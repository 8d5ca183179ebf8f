import pytest

from constructs_pd.planning.rules.pd401_image import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW


def test_accepts_the_default() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("tag", ["serve-llm-cuda", "serve-llm-cuda-v1", "serve-llm-cuda-v1.0", "serve-llm-cuda-v1.0.1"])
def test_refuses_moving_and_unknown_tags(tag: str) -> None:
    (finding,) = findings_of(RULE, {"image.tag": tag})
    assert finding.subject == "image.tag"
    assert "serve-llm-cuda-v1.0.0" in finding.remedy
    assert "custom_images" in finding.remedy


def test_accepts_an_image_whose_versions_the_user_gives() -> None:
    assert findings_of(RULE, {"image.tag": "own-1.0.0", "custom_images": [IMAGE_ROW]}) == []
