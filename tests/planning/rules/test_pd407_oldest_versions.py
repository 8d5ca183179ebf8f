import pytest

from constructs_pd.planning.rules.pd407_oldest_versions import RULE
from support.rules import findings_of
from support.specs import IMAGE_ROW


def own(**versions: str) -> dict[str, object]:
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, **versions}]}


@pytest.mark.parametrize(("name", "version"), [("ray_version", "2.58.0"), ("ray_version", "2.100.0")])
def test_accepts_the_oldest_and_newer(name: str, version: str) -> None:
    assert findings_of(RULE, own(**{name: version})) == []


@pytest.mark.parametrize(
    ("name", "version", "oldest"),
    [("ray_version", "2.57.9", "2.58.0"), ("vllm_version", "0.25.1", "0.26.0"), ("nixl_version", "1.3.0", "1.3.1")],
)
def test_refuses_older_ones_with_both_versions(name: str, version: str, oldest: str) -> None:
    (finding,) = findings_of(RULE, own(**{name: version}))
    assert finding.message == f"own-1.0.0 holds {name} {version}, at least {oldest} is needed"


def test_leaves_an_unknown_tag_to_its_own_rule() -> None:
    assert findings_of(RULE, {"image": {"tag": "latest"}}) == []
