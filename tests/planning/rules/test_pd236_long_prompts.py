from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd236_long_prompts import RULE
from support.rules import findings_of

P5 = {
    "model": {"source": "Qwen/Qwen3-32B", "max_model_len": 8192},
    "prefill": {"instance_type": "p5.48xlarge"},
    "decode": {"instance_type": "p5.48xlarge"},
}


def traffic(**fields: Any) -> dict[str, Any]:
    return {**P5, "traffic": {"requests_per_second": 1.0, "prompt_tokens": 4000, "output_tokens": 300, **fields}}


@pytest.mark.parametrize(
    "fields", [{"prompt_variation": 0.3}, {"prompt_variation": 0.0}, {"prompt_tokens": 800}, {"output_tokens": None}]
)
def test_accepts_requests_of_which_almost_all_fit(fields: dict[str, Any]) -> None:
    assert findings_of(RULE, traffic(**fields)) == []
    assert findings_of(RULE) == []


def test_warns_of_the_share_that_does_not_with_every_number() -> None:
    (finding,) = findings_of(RULE, traffic())
    assert finding.severity is Severity.WARNING
    assert finding.subject == "traffic.prompt_tokens"
    assert finding.message == (
        "10.9% of the requests do not fit: prompts of 4,000 tokens on average vary by 1 of it, and a context of 8,192 "
        "has room for 7,892 beside an answer of 300"
    )


def test_a_cached_prefix_is_a_part_of_the_prompt() -> None:
    (plain,), (cached,) = (findings_of(RULE, traffic(cached_prompt_fraction=part)) for part in (0.0, 0.5))
    assert plain.message == cached.message


def test_leaves_a_mean_that_does_not_fit_to_its_own_rule() -> None:
    assert findings_of(RULE, traffic(prompt_tokens=9000)) == []
    assert findings_of(RULE, {**traffic(), "model": {"source": "nobody/nothing"}}) == []
