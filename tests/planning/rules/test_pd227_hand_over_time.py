from typing import Any

import pytest

from constructs_pd.findings import Severity
from constructs_pd.planning.rules.pd227_hand_over_time import RULE
from support.rules import findings_of


def traffic(rate: float, tokens: int = 800, **changes: Any) -> dict[str, Any]:
    return {"traffic": {"requests_per_second": rate, "prompt_tokens": tokens}, **changes}


def dense(instance: str, tokens: int) -> dict[str, Any]:
    phase = {"instance_type": instance}
    model = {"source": "Qwen/Qwen3-8B", "max_model_len": 32_768}
    return traffic(0.01, tokens, model=model, prefill=phase, decode=phase)


def test_accepts_no_traffic_and_little_of_it() -> None:
    assert findings_of(RULE) == []
    assert findings_of(RULE, traffic(12.6)) == []  # 69 %


def test_warns_of_busy_links_with_both_numbers() -> None:
    (finding,) = findings_of(RULE, {**traffic(14), "decode.replicas": 2})
    assert finding.severity is Severity.WARNING
    assert finding.subject == "traffic.requests_per_second"
    assert finding.message == (
        "14 requests a second of 800 tokens hand over 9.6 Gbit/s, prefill's nodes carry 12.5 (77%), as reckoned; 70% "
        "is much"
    )
    assert finding.remedy.startswith("raise prefill.replicas to 2, or choose ")
    (finding,) = findings_of(RULE, {**traffic(14), "prefill.replicas": 2})
    assert finding.remedy.startswith("raise decode.replicas to 2, or choose ")


def test_names_both_sides_where_both_are_busy_and_what_is_enough() -> None:
    (finding,) = findings_of(RULE, traffic(14))
    assert "prefill's nodes carry 12.5 (77%) and decode's nodes carry 12.5 (77%), as reckoned" in finding.message
    first, second, *_ = finding.remedy.split(", or ")
    assert first == "raise prefill.replicas to 2 and decode.replicas to 2"
    assert findings_of(RULE, {**traffic(14), "prefill.replicas": 2, "decode.replicas": 2}) == []
    other = second.removeprefix("choose ").removesuffix(" for both phases")
    assert findings_of(RULE, {**traffic(14), "prefill.instance_type": other, "decode.instance_type": other}) == []


def test_advises_no_quicker_links_where_host_memory_is_the_limit() -> None:
    (capped,) = findings_of(RULE, dense("g6e.48xlarge", 20_000))
    assert capped.remedy == (
        "choose instances with GPUDirect RDMA for both phases: through host memory an engine gets 24 Gbit/s at most, "
        "of whatever links"
    )
    (slow,) = findings_of(RULE, dense("g6.12xlarge", 20_000))
    assert slow.remedy.startswith("choose instances with more EFA bandwidth")


def test_warns_of_full_links_up_to_where_pd226_refuses_them() -> None:
    (finding,) = findings_of(RULE, traffic(36))
    assert "12.5 (198%)" in finding.message
    assert findings_of(RULE, traffic(40)) == []


@pytest.mark.parametrize(("tokens", "warns"), [(10_000, False), (16_000, True)])
def test_warns_where_the_mean_prompt_takes_long(tokens: int, warns: bool) -> None:
    findings = findings_of(RULE, dense("g6.12xlarge", tokens))
    assert [finding.subject for finding in findings] == ["traffic.prompt_tokens"] * warns
    if warns:
        assert findings[0].message == (
            "the KV cache of 16,000 tokens takes 1.0 s at 20.0 Gbit/s (EFA, copied through host memory), for which the "
            "first token waits; 1 s is much"
        )


def test_long_prompts_are_no_matter_over_gpudirect() -> None:
    assert findings_of(RULE, dense("p5.48xlarge", 30_000)) == []


def test_warns_where_posting_takes_much_of_decodes_time() -> None:
    # 36 layers x 500 blocks of 16 at 2.44 us are 44 ms.
    busy = {**dense("p5.48xlarge", 8000), "traffic.requests_per_second": 6.0}
    (finding,) = findings_of(RULE, busy)
    assert finding.subject == "traffic.requests_per_second"
    assert finding.message == (
        "each GPU of decode posts reads for 26% of its time where no two blocks lie side by side, and decodes nothing "
        "meanwhile; 25% is much"
    )
    assert finding.remedy.startswith("raise decode.replicas to 2, or raise block_size ")
    assert findings_of(RULE, {**busy, "decode.replicas": 2}) == []
    larger = {f"{phase}.engine_args": {"block_size": 64} for phase in ("prefill", "decode")}
    assert findings_of(RULE, {**busy, **larger}) == []


def test_warns_where_a_wider_prefill_multiplies_the_reads() -> None:
    wide = {"instance_type": "p5.48xlarge", "tensor_parallel": 8}
    model = {"source": "Qwen/Qwen3-8B", "max_model_len": 32_768}
    changes = traffic(20, 3000, model=model, prefill=wide, decode={**wide, "tensor_parallel": 1})
    (finding,) = findings_of(RULE, changes)
    assert finding.message == (
        "each GPU of decode posts reads for 264% of its time where no two blocks lie side by side, and so it never "
        "catches up; 25% is much"
    )
    replicas, narrow, blocks = finding.remedy.split(", or ")
    assert replicas == "raise decode.replicas to 11"
    assert narrow.startswith("give prefill decode's tensor_parallel of 1")
    assert blocks.startswith("raise block_size")
    assert findings_of(RULE, {**changes, "decode.replicas": 11}) == []


def test_leaves_what_is_not_known_to_its_own_rules() -> None:
    assert findings_of(RULE, {**traffic(14), "model.source": "nobody/nothing"}) == []
    assert findings_of(RULE, {**traffic(14), "decode.instance_type": "x"}) == []
