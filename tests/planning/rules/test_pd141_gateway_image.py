import pytest
from pydantic import ValidationError

from constructs_pd.planning.rules.pd141_gateway_image import RULE
from constructs_pd.planning.spec_gateway import Gateway
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
        *(f"haproxy@{DIGEST[:-1]}", f"haproxy@{DIGEST}0", "haproxy@sha512:" + "0" * 64),
    ],
)
def test_refuses_everything_else(reference: str) -> None:
    (finding,) = findings_of(RULE, image(reference))
    assert finding.subject == "endpoint.gateway.image"
    assert repr(reference) in finding.message


@pytest.mark.parametrize(
    "reference",
    [
        *("Docker.io/haproxy", "docker.io//haproxy", "haproxy:2.8:2.8", "haproxy-", "haproxy:-2.8", "a/b:/2.8"),
        *("haproxy/", ":2.8", "a@b", f"haproxy@{'0' * 64}"),
    ],
)
def test_what_no_container_runtime_reads_is_no_image(reference: str) -> None:
    with pytest.raises(ValidationError, match="image"):
        Gateway.model_validate({**GATEWAY, "image": f"{reference}@{DIGEST}"})


def test_says_nothing_without_a_gateway() -> None:
    assert findings_of(RULE) == []
