"""PD235: the stated traffic is served within its targets."""

from collections.abc import Iterator
from math import isfinite

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.accuracy import accuracies, orders_of_magnitude
from constructs_pd.planning.performance.judge import advice_on
from constructs_pd.planning.performance.targets import targets_of
from constructs_pd.planning.performance.words import beyond
from constructs_pd.planning.rules import performance_terms
from constructs_pd.planning.rules.rule import Rule, Violation

REMEDY = "see `constructs-pd size` for the nodes that it takes, raise replicas, or state less traffic"


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the deployment is too slow for its traffic, or for each target that it misses."""
    traffic, found = facts.spec.traffic, advice_on(facts)
    if traffic is None or found is None:
        return
    ttft, itl = accuracies(facts)
    if found.apart.is_saturated:
        rough = {"prefill": orders_of_magnitude(ttft), "decode": orders_of_magnitude(itl)}
        yield Violation(
            "traffic.requests_per_second",
            f"as predicted {found.apart.bottleneck} is asked for {found.apart.utilization:.0%} of what it can at "
            f"{traffic.requests_per_second:g} requests a second{rough.get(found.apart.bottleneck, '')}",
            REMEDY,
        )
        return
    for field, seconds, promised in targets_of(facts.spec.slo).missed(found.apart):
        if isfinite(seconds):
            predicted, asked = beyond(seconds, promised)
            rough_time = orders_of_magnitude(ttft if field.startswith("ttft") else itl)
            yield Violation(f"slo.{field}", f"{predicted} are predicted for {asked}{rough_time}", REMEDY)


RULE = Rule(
    code="PD235",
    severity=Severity.WARNING,
    title="The stated traffic is served within its targets",
    rationale="Clients wait longer than they were promised; where a phase is full, longer and longer.",
    source="docs/performance.md",
    check=check,
    arithmetic=performance_terms.ARITHMETIC,
    worked=performance_terms.worked,
)
