import pytest

from constructs_pd.planning.rules.pd401_image import RULE
from support.rules import findings_of


def test_accepts_the_default() -> None:
    assert findings_of(RULE) == []


@pytest.mark.parametrize("tag", ["serve-llm-cuda", "serve-llm-cuda-v1", "serve-llm-cuda-v1.0", "serve-llm-cuda-v1.0.1"])
def test_refuses_moving_and_unknown_tags(tag: str) -> None:
    (finding,) = findings_of(RULE, {"image.tag": tag})
    assert finding.subject == "image.tag"
    assert "serve-llm-cuda-v1.0.0" in finding.remedy
    assert "custom_images" in finding.remedy


def test_accepts_an_image_whose_versions_the_user_gives() -> None:
    row = {
        "tag": "own-1",
        "repository": "123456789012.dkr.ecr.us-west-2.amazonaws.com/own",
        "ray_version": "2.58.0",
        "vllm_version": "0.26.0",
        "nixl_version": "1.3.1",
        "source": "own build",
        "date": "2026-11-29",
    }
    assert findings_of(RULE, {"image.tag": "own-1", "custom_images": [row]}) == []
