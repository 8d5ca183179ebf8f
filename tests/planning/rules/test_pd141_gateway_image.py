import pytest

from constructs_pd.planning.rules.pd141_gateway_image import RULE
from support.gateway import DIGEST, GATEWAY
from support.rules import findings_of


def image(reference: str) -> dict[str, object]:
    return {"endpoint.gateway": {**GATEWAY, "image": reference}}


@pytest.mark.parametrize("name", ["haproxy", "docker.io/library/haproxy:2.8.25", "registry:5000/haproxy:2.8"])
def test_accepts_a_digest(name: str) -> None:
    assert findings_of(RULE, image(f"{name}@{DIGEST}")) == []


@pytest.mark.parametrize(
    "reference",
    [
        *("haproxy", "haproxy:2.8.25", "haproxy:latest"),
        *(f"haproxy@{DIGEST[:-1]}", f"haproxy@{DIGEST}0", f"a@b@{DIGEST}"),
        *("haproxy@sha512:" + "0" * 64, "haproxy@" + "0" * 64),
    ],
)
def test_refuses_everything_else(reference: str) -> None:
    (finding,) = findings_of(RULE, image(reference))
    assert finding.subject == "endpoint.gateway.image"
    assert repr(reference) in finding.message


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE) == []
