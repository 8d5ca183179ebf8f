import pytest

from constructs_pd.planning.rules.pd415_kuberay_ray import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW


def ray(version: str) -> dict[str, object]:
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, "ray_version": version}]}


@pytest.mark.parametrize("version", ["2.53.0", "2.58.0", "2.100.0", "3.0.0"])
def test_accepts_a_ray_with_the_operators_health_check(version: str) -> None:
    assert findings_of(RULE, ray(version)) == []


@pytest.mark.parametrize("version", ["2.52.9", "2.9.0", "1.99.0"])
def test_refuses_an_older_one_with_both_versions(version: str) -> None:
    (finding,) = findings_of(RULE, ray(version))
    assert finding.message == f"own-1.0.0 holds Ray {version}, KubeRay 1.7.0 needs 2.53.0"


def test_leaves_unknown_rows_to_their_own_rules() -> None:
    assert findings_of(RULE, {"image.tag": "unknown"}) == []
    assert findings_of(RULE, {**ray("2.9.0"), "kuberay_version": "9.9.9"}) == []
