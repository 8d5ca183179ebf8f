import pytest

from constructs_pd.planning.rules.pd219_driver import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, changed

AMI = {"decode.ami_id": "ami-0123456789abcdef0"}


G7 = {"decode.instance_type": "g7.24xlarge"}


def release(day: str) -> dict[str, object]:
    return {"nodes": {"ami_release_version": f"1.35.2-{day}"}}


@pytest.mark.parametrize("name", ["g6.8xlarge", "g7e.24xlarge", "p6-b300.48xlarge", "x"])
def test_accepts_gpus_of_which_nobody_says_that_they_need_more(name: str) -> None:
    assert findings_of(RULE, {"decode.instance_type": name}) == []


@pytest.mark.parametrize("changes", [{}, release("20260917"), release("20261101")])
def test_accepts_g7_on_releases_with_two_drivers(changes: dict[str, object]) -> None:
    assert findings_of(RULE, {**G7, **changes}) == []


@pytest.mark.parametrize("day", ["20260916", "20260101"])
def test_refuses_g7_on_an_older_release_with_both_numbers(day: str) -> None:
    (finding,) = findings_of(RULE, {**G7, **release(day)})
    assert finding.subject == "decode.instance_type"
    assert finding.message == f"g7.24xlarge needs driver 595, AL2023_x86_64_NVIDIA 1.35.2-{day} has 580"
    assert "a release of 2026-09-17 or later" in finding.remedy


def test_leaves_the_driver_of_ones_own_image_to_its_owner_until_it_is_stated() -> None:
    assert findings_of(RULE, {**G7, **AMI}) == []
    assert findings_of(RULE, {**G7, **AMI, "decode.ami_driver_branch": 595}) == []
    (finding,) = findings_of(RULE, {**G7, **AMI, "decode.ami_driver_branch": 594})
    assert finding.message == "g7.24xlarge needs driver 595, ami-0123456789abcdef0 has 594"


@pytest.mark.parametrize(("branch", "refused"), [(580, 0), (581, 0), (595, 0), (596, 1)])
def test_reads_the_branch_of_a_row_of_ones_own(branch: int, refused: int) -> None:
    row = changed(FOUR_GPU_ROW, {"gpu.driver_branch": branch})
    found = findings_of(RULE, {"decode.instance_type": "g6.12xlarge", "custom_instances": [row]})
    assert len(found) == refused
    assert all("a release of" not in finding.remedy for finding in found)
