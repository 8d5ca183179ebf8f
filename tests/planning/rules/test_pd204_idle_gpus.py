import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd204_idle_gpus import RULE
from support.rules import findings_of


@pytest.mark.parametrize("size", [None, 8])
def test_accepts_every_gpu_used(size: int | None) -> None:
    assert findings_of(RULE, {"prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": size}}) == []


def test_warns_of_one_idle_gpu_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {"prefill": {"instance_type": "p5.48xlarge", "tensor_parallel": 7}})
    assert finding.severity is Severity.WARNING
    assert finding.message == "7 of 8 GPUs of p5.48xlarge are used, 1 stay idle"


def test_leaves_an_unknown_type_to_its_own_rule() -> None:
    assert findings_of(RULE, {"decode.instance_type": "x"}) == []
