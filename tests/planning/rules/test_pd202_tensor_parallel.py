import pytest

from constructs_pd.planning.rules.pd202_tensor_parallel import RULE
from support.rules import findings_of


@pytest.mark.parametrize("size", [None, 1, 8])
def test_accepts_up_to_every_gpu_of_the_node(size: int | None) -> None:
    assert findings_of(RULE, {"decode": {"instance_type": "p5.48xlarge", "tensor_parallel": size}}) == []


def test_refuses_one_gpu_too_many_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"decode": {"instance_type": "p5.48xlarge", "tensor_parallel": 9}})
    assert finding.subject == "decode.tensor_parallel"
    assert finding.message == "9 GPUs, p5.48xlarge has 8 x H100"


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {"decode": {"instance_type": "x", "tensor_parallel": 9}}) == []
