"""PD183: the promised time to the first token leaves time for both phases."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.histograms import TTFT
from constructs_pd.planning.monitoring import decode_share_seconds, hand_over_budget
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where decode's part leaves prefill less than can be measured."""
    slo = facts.spec.slo
    if slo is None or slo.ttft_p95_seconds is None:
        return
    promised, decode = slo.ttft_p95_seconds, decode_share_seconds(facts, slo)
    if decode is not None and round(promised - decode, 6) >= TTFT[0]:
        return
    if slo.ttft_decode_seconds is not None:
        yield Violation(
            "slo.ttft_decode_seconds",
            f"{slo.ttft_decode_seconds:g} s for decode of the promised {promised:g} s leave prefill less than the "
            f"{TTFT[0]:g} s that can be measured",
            f"state less than {promised:g}, or promise more",
        )
        return
    budget = hand_over_budget(facts)
    if budget is not None:
        part = "more than can be measured" if decode is None else f"{decode:g} s"
        yield Violation(
            "slo.ttft_p95_seconds",
            f"of {promised:g} s decode needs {part}, as the hand-over of the longest context takes "
            f"{budget.longest_seconds:.3g} s: prefill is left with less than {TTFT[0]:g} s",
            "promise more, shorten model.max_model_len, or state slo.ttft_decode_seconds for the prompts that come",
        )


RULE = Rule(
    code="PD183",
    severity=Severity.ERROR,
    title="The promised time to the first token leaves time for both phases",
    rationale="The promise would be broken by every request, and the alert would never end.",
    source="vLLM 0.26.0 v1/metrics/loggers.py; Ray 2.58.0 prefill_decode/pd_server.py; docs/hand_over.md",
    check=check,
)
