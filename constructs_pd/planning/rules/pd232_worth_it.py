"""PD232: it is worth it to serve the phases apart."""

from collections.abc import Iterator

from constructs_pd.findings import Severity
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.accuracy import accuracies, orders_of_magnitude
from constructs_pd.planning.performance.judge import advice_on
from constructs_pd.planning.performance.words import rates, times
from constructs_pd.planning.rules import performance_terms
from constructs_pd.planning.rules.rule import Rule, Violation


def check(facts: Facts) -> Iterator[Violation]:
    """Yield a violation where the same GPUs serve as much or more together; PD235 says where neither way serves."""
    found = advice_on(facts)
    if found is None or found.verdict != "no" or (found.is_by_rate and found.most_together == 0):
        return
    if found.is_by_rate:
        apart, together = rates(found.most_apart, found.most_together)
        message = f"as predicted the phases apart serve {apart} requests a second, the same GPUs together {together}"
    else:
        first = times(found.apart.ttft_mean, found.together.ttft_mean)
        further = times(found.apart.itl_mean, found.together.itl_mean)
        message = (
            f"as predicted the first token comes after {first[0]} and further ones every {further[0]}; with the same "
            f"GPUs together after {first[1]} and every {further[1]}"
        )
    yield Violation(
        "traffic",
        message + orders_of_magnitude(*accuracies(facts)),
        "see `constructs-pd size` for how many of each phase it takes, or serve the model with one kind of engine",
    )


RULE = Rule(
    code="PD232",
    severity=Severity.WARNING,
    title="It is worth it to serve the phases apart",
    rationale="Two phases cost a second copy of the weights, a hand-over and a second thing that fails. vLLM itself "
    "says that disaggregated prefilling does not improve throughput.",
    source="docs/performance.md; vLLM documentation, Disaggregated Prefilling; benchmarks/published_verdicts.yaml",
    check=check,
    arithmetic=performance_terms.ARITHMETIC,
    worked=performance_terms.worked,
)
