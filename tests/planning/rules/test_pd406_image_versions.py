from typing import Any

from constructs_pd.planning.catalog import load_catalog
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


def test_refuses_another_ray_in_a_mirror_of_aws_too() -> None:
    known = load_catalog().images["serve-llm-cuda-v1.0.0"]
    mirror = load_catalog().registries["us-west-2"].repository(known.mirrored_as or "")
    row = {**IMAGE_ROW, "tag": known.tag, "repository": mirror, "ray_version": "2.60.0"}
    (finding,) = findings_of(RULE, {"custom_images": [row]})
    assert finding.message == "2.60.0, but serve-llm-cuda-v1.0.0 holds 2.58.0"


def test_refuses_another_ray_in_a_row_that_is_pulled_from_a_mirror_of_aws() -> None:
    known = load_catalog().images["serve-llm-cuda-v1.0.0"]
    row = {**IMAGE_ROW, "tag": known.tag, "mirrored_as": known.mirrored_as, "ray_version": "2.60.0"}
    (finding,) = findings_of(RULE, {"custom_images": [row]})
    assert finding.subject == "custom_images.0.ray_version"
