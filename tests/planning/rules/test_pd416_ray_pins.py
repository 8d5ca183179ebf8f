import pytest

from constructs_pd.planning.rules.pd416_ray_pins import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW


def image(ray: str, vllm: str, nixl: str) -> dict[str, object]:
    versions = {"ray_version": ray, "vllm_version": vllm, "nixl_version": nixl}
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, **versions}]}


@pytest.mark.parametrize(
    "versions", [("2.58.0", "0.26.0", "1.3.1"), ("2.59.0", "0.27.0", "1.3.1"), ("2.60.0", "0.29.0", "1.3.2")]
)
def test_accepts_what_ray_pins(versions: tuple[str, str, str]) -> None:
    assert findings_of(RULE, image(*versions)) == []
    assert findings_of(RULE) == []


def test_warns_of_each_version_that_ray_was_not_made_for() -> None:
    vllm, nixl = findings_of(RULE, image("2.58.0", "0.27.0", "1.3.2"))
    assert vllm.message == "own-1.0.0 holds vLLM 0.27.0, and Ray 2.58.0 was made for 0.26.0"
    assert nixl.message == "own-1.0.0 holds NIXL 1.3.2, and Ray 2.58.0 was made for 1.3.1"


def test_warns_once_of_a_ray_whose_pins_are_not_known() -> None:
    (finding,) = findings_of(RULE, image("2.61.0", "0.33.0", "1.5.2"))
    assert "holds Ray 2.61.0, and it is known of 2.58.0, 2.59.0, 2.60.0 only" in finding.message


def test_leaves_an_unknown_image_to_its_own_rule() -> None:
    assert findings_of(RULE, {"image.tag": "unknown"}) == []
