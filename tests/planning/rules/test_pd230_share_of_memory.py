import pytest

from constructs_pd.planning.rules.pd230_share_of_memory import RULE
from support.rules import findings_of


@pytest.mark.parametrize("share", [None, 0.05, 0.92, 0.99])
def test_accepts_what_leaves_room_for_cuda(share: float | None) -> None:
    assert findings_of(RULE, {"decode.gpu_memory_utilization": share}) == []


@pytest.mark.parametrize("share", [0.992, 1.0])
def test_refuses_more_than_is_free_with_both_numbers(share: float) -> None:
    (finding,) = findings_of(RULE, {"decode.gpu_memory_utilization": share})
    assert finding.subject == "decode.gpu_memory_utilization"
    assert f"of 22.03 GiB is {share * 22.03:.2f} GiB, and 21.84 GiB are free at most" in finding.message
    assert finding.remedy == "lower it to 0.99 or less, or leave it out"


def test_says_nothing_of_a_gpu_or_a_vllm_that_is_not_known() -> None:
    assert findings_of(RULE, {"decode.gpu_memory_utilization": 1.0, "decode.instance_type": "p9.large"}) == []
    assert findings_of(RULE, {"decode.gpu_memory_utilization": 1.0, "image": {"tag": "none"}}) == []
