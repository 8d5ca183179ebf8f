"""PD184: it is known how the time to the first token is divided between the phases."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.monitoring import hand_over_budget
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the hand-over is not reckoned and decode's part is not stated."""
    slo = facts.spec.slo
    if slo is None or slo.ttft_p95_seconds is None or slo.ttft_decode_seconds is not None:
        return
    if facts.model is None or any(phase.instance is None for phase in facts.phases):
        return  # PD205 and PD201 say what is not known
    if hand_over_budget(facts) is None:
        yield Violation(
            "slo.ttft_decode_seconds",
            f"it is not stated which part of {slo.ttft_p95_seconds:g} s is decode's, and the hand-over of this model "
            "is not reckoned",
            "state it: how long decode may wait for the KV cache and make its first step, such as "
            f"{slo.ttft_p95_seconds / 4:g}",
        )


RULE = Rule(
    code="PD184",
    severity=Severity.ERROR,
    title="It is known how the time to the first token is divided between the phases",
    rationale="No metric has the whole: each engine measures its own part, from the moment when it gets the request.",
    source="Ray 2.58.0 prefill_decode/pd_server.py, _pd_handle_request; vLLM 0.26.0 v1/metrics/stats.py",
    check=check,
)
