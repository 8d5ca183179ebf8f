from typing import Any

import pytest

from constructs_pd.planning.rules.pd413_cuda_driver import RULE
from support.rules import findings_of
from support.specs import AMI_ID, IMAGE_ROW


def own_ami(branch: int | None) -> dict[str, Any]:
    return {"decode.ami_id": AMI_ID, "decode.ami_driver_branch": branch}


def image(cuda_version: str | None) -> dict[str, Any]:
    return {"image": {"tag": "own-1.0.0"}, "custom_images": [{**IMAGE_ROW, "cuda_version": cuda_version}]}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        own_ami(580),
        own_ami(595),
        own_ami(None),
        {**own_ami(579), **image("12.9.1")},
        {**own_ami(525), **image("12.0.0")},
        {**own_ami(1), **image(None)},
        {**own_ami(1), **image("14.0.0")},
        {**own_ami(1), "image.tag": "unknown"},
    ],
)
def test_accepts_drivers_that_run_it_and_leaves_unknown_ones_alone(changes: dict[str, Any]) -> None:
    assert findings_of(RULE, changes) == []


@pytest.mark.parametrize(("branch", "cuda_version", "least"), [(579, "13.0.2", 580), (524, "12.9.1", 525)])
def test_refuses_an_older_driver_with_both_numbers(branch: int, cuda_version: str, least: int) -> None:
    (finding,) = findings_of(RULE, {**own_ami(branch), **image(cuda_version)})
    assert finding.subject == "decode.ami_id"
    assert f"CUDA {cuda_version}, which needs driver {least}; {AMI_ID} of decode has {branch}" in finding.message
