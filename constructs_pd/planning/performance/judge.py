"""The advice on a specification with traffic."""

from __future__ import annotations

from functools import lru_cache

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.performance.advice import Advice, advise
from constructs_pd.planning.performance.engines import disaggregated_of, requests_of
from constructs_pd.planning.performance.mixed import same_gpus_aggregated
from constructs_pd.planning.performance.targets import targets_of


class _Asked:
    """Facts as a key of a cache: they hold mappings, so the same ones are told by their identity."""

    def __init__(self, facts: Facts) -> None:
        self.facts = facts

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Asked) and other.facts is self.facts

    def __hash__(self) -> int:
        return id(self.facts)


def advice_on(facts: Facts) -> Advice | None:
    """Return whether a specification should serve its phases apart; none without answers' lengths or with unknowns."""
    return _advice(_Asked(facts))


@lru_cache(maxsize=4)  # several rules ask about the same facts, one after the other
def _advice(asked: _Asked) -> Advice | None:
    facts = asked.facts
    traffic = facts.spec.traffic
    requests = requests_of(traffic, context_tokens(facts)) if traffic else None
    if traffic is None or requests is None:
        return None
    targets = targets_of(facts.spec.slo)
    apart = disaggregated_of(facts, requests)
    together = same_gpus_aggregated(facts, requests, targets, traffic.requests_per_second) if apart else None
    if apart is None or together is None:
        return None
    return advise(requests, traffic.requests_per_second, targets, apart, together)
