import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd144_gateway_version import RULE
from support.gateway import DIGEST, GATEWAY
from support.rules import findings_of


def image(reference: str) -> dict[str, object]:
    return {"endpoint.gateway": {**GATEWAY, "image": reference}}


@pytest.mark.parametrize("tag", ["2.8", "2.8.25", "2.8-alpine", "2.8.25-bookworm", "v2.8.25"])
def test_accepts_a_tag_of_the_branch(tag: str) -> None:
    assert findings_of(RULE, image(f"registry:5000/haproxy:{tag}@{DIGEST}")) == []


@pytest.mark.parametrize("tag", ["2.80", "12.8", "3.0.5", "latest", "lts"])
def test_warns_of_another_tag(tag: str) -> None:
    (finding,) = findings_of(RULE, image(f"haproxy:{tag}@{DIGEST}"))
    assert finding.severity is Severity.WARNING
    assert f"its tag is {tag!r}" in finding.message


@pytest.mark.parametrize("name", ["haproxy", "registry:5000/haproxy"])
def test_warns_where_no_tag_says_it(name: str) -> None:
    (finding,) = findings_of(RULE, image(f"{name}@{DIGEST}"))
    assert "it has no tag" in finding.message


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE) == []
