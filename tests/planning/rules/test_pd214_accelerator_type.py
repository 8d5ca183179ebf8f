from typing import Any

import pytest

from constructs_pd.planning.rules.pd214_accelerator_type import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW


def named(name: str | None) -> dict[str, Any]:
    gpu: dict[str, Any] = {**FOUR_GPU_ROW["gpu"], "ray_accelerator_type": name}  # type: ignore[dict-item]
    return {"custom_instances": [{**FOUR_GPU_ROW, "gpu": gpu}]}


@pytest.mark.parametrize("name", ["L4", "H100", None])
def test_accepts_names_that_ray_gives_and_none(name: str | None) -> None:
    assert findings_of(RULE, named(name)) == []


@pytest.mark.parametrize("name", ["l4", "A100-40G", "RTX PRO 6000"])
def test_refuses_every_other_name(name: str) -> None:
    (finding,) = findings_of(RULE, named(name))
    assert finding.message == f"{name!r} is none of the 17 names that Ray 2.58.0 gives to nodes"


def test_says_nothing_of_a_ray_that_it_does_not_know() -> None:
    assert findings_of(RULE, {**named("l4"), "image.tag": "unknown"}) == []


def test_names_the_one_that_differs_by_case_alone() -> None:
    (finding,) = findings_of(RULE, named("h100"))
    assert finding.remedy.startswith("write H100;")
