from typing import Any

import pytest

from constructs_pd.planning.rules.pd417_unknown_driver import RULE
from support.rules import findings_of
from support.specs import AMI_ID, IMAGE_ROW


def image(cuda_version: str | None) -> dict[str, Any]:
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, "cuda_version": cuda_version}]}


@pytest.mark.parametrize(
    "changes",
    [{}, image("12.0.0"), image("13.9.0"), {"decode.ami_id": AMI_ID, "decode.ami_driver_branch": 570}],
)
def test_accepts_what_can_be_compared(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


def test_warns_of_an_image_whose_cuda_nobody_says() -> None:
    (finding,) = findings_of(RULE, image(None))
    assert finding.subject == "image.tag"
    assert "nobody says which CUDA own-1.0.0 holds" in finding.message
    assert "cuda_version" in finding.remedy


def test_warns_of_a_cuda_without_a_row() -> None:
    (finding,) = findings_of(RULE, image("14.0.0"))
    assert "CUDA 14.0.0, and the least driver is known of 12 and 13 only" in finding.message


def test_warns_of_each_ami_whose_driver_nobody_says() -> None:
    (finding,) = findings_of(RULE, {"prefill.ami_id": AMI_ID})
    assert finding.subject == "prefill.ami_id"
    assert "driver 580 that the container image needs" in finding.message
    assert finding.remedy == "state the driver's branch as prefill.ami_driver_branch"


def test_leaves_an_unknown_image_to_its_own_rule() -> None:
    assert findings_of(RULE, {"image.tag": "unknown", "prefill.ami_id": AMI_ID}) == []
