"""PD181: an SLO promises something."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation for an SLO without a promise, and for a part of a promise that is not made."""
    slo = facts.spec.slo
    if slo is None:
        return
    if slo.ttft_decode_seconds is not None and slo.ttft_p95_seconds is None:
        yield Violation(
            "slo.ttft_decode_seconds",
            f"{slo.ttft_decode_seconds:g} s are a part of ttft_p95_seconds, which is not stated",
            "state slo.ttft_p95_seconds, or leave this out",
        )
    elif slo.ttft_p95_seconds is None and slo.itl_p95_seconds is None and slo.availability is None:
        yield Violation(
            "slo",
            "it holds 0 promises",
            "state one or more of ttft_p95_seconds, itl_p95_seconds and availability, or leave slo out",
        )


RULE = Rule(
    code="PD181",
    severity=Severity.ERROR,
    title="An SLO promises something",
    rationale="No alert would follow from it.",
    source="this library",
    check=check,
)
