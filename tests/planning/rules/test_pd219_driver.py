import pytest

from constructs_pd.planning.rules.pd219_driver import RULE
from support.rules import findings_of
from support.specs import FOUR_GPU_ROW, changed

AMI = {"decode.ami_id": "ami-0123456789abcdef0"}


@pytest.mark.parametrize("name", ["g6.8xlarge", "g7e.24xlarge", "p6-b300.48xlarge", "x"])
def test_accepts_gpus_of_which_nobody_says_that_they_need_more(name: str) -> None:
    assert findings_of(RULE, {"decode.instance_type": name}) == []


def test_refuses_the_stock_image_on_g7_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"decode.instance_type": "g7.24xlarge"})
    assert finding.subject == "decode.instance_type"
    assert finding.message == "g7.24xlarge needs driver 595, AL2023_x86_64_NVIDIA has 580"


def test_leaves_the_driver_of_ones_own_image_to_its_owner() -> None:
    assert findings_of(RULE, {"decode.instance_type": "g7.24xlarge", **AMI}) == []


@pytest.mark.parametrize(("branch", "refused"), [(580, 0), (581, 1)])
def test_reads_the_branch_of_a_row_of_ones_own(branch: int, refused: int) -> None:
    row = changed(FOUR_GPU_ROW, {"gpu.driver_branch": branch})
    assert len(findings_of(RULE, {"decode.instance_type": "g6.12xlarge", "custom_instances": [row]})) == refused
