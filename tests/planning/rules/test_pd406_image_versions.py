from typing import Any

from constructs_pd.planning.rules.pd406_image_versions import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW

AWS = {
    **IMAGE_ROW,
    "tag": "serve-llm-cuda-v1.0.0",
    "repository": "public.ecr.aws/deep-learning-containers/ray",
}


def custom(row: dict[str, Any]) -> dict[str, Any]:
    return {"custom_images": [row]}


def test_accepts_what_the_catalogue_says_as_well() -> None:
    assert findings_of(RULE, custom(AWS)) == []


def test_refuses_another_ray_in_the_same_image_with_both_versions() -> None:
    (finding,) = findings_of(RULE, custom({**AWS, "ray_version": "2.59.0"}))
    assert finding.subject == "custom_images.0.ray_version"
    assert finding.message == "2.59.0, but serve-llm-cuda-v1.0.0 holds 2.58.0"


def test_accepts_the_same_tag_in_a_repository_of_ones_own() -> None:
    assert findings_of(RULE, custom({**AWS, "repository": "registry.example/ray", "ray_version": "2.59.0"})) == []
