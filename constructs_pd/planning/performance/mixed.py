"""Nodes of one or two kinds that serve both phases, each kind in proportion to what it can."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.engines import aggregated_of
from constructs_pd.planning.performance.latency import Latency, Requests, saturated
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.spec_targets import Targets


@dataclass(frozen=True)
class Mixed:
    """Groups of equal engines.

    Attributes:
        groups: The groups.
        of: The requests by which they share the load.
    """

    groups: tuple[Aggregated, ...]
    of: Requests

    @cached_property
    def _shares(self) -> tuple[float, ...]:
        rates = [full_rate(group, self.of) for group in self.groups]
        total = sum(rates)
        return tuple(rate / total for rate in rates) if total else (1.0, *(0.0 for _ in rates[1:]))

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see: means over all requests, and the slower group's percentiles."""
        found = [
            (share, group.latency(requests, rate * share))
            for share, group in zip(self._shares, self.groups, strict=True)
            if share > 0
        ]
        worst = max((each for _, each in found), key=lambda each: each.utilization)
        if any(each.is_saturated for _, each in found):
            return saturated("engines", worst.utilization)
        return Latency(
            ttft_mean=sum(share * each.ttft_mean for share, each in found),
            ttft_p50=max(each.ttft_p50 for _, each in found),
            ttft_p95=max(each.ttft_p95 for _, each in found),
            itl_mean=sum(share * each.itl_mean for share, each in found),
            itl_p95=max(each.itl_p95 for _, each in found),
            bottleneck="engines",
            utilization=worst.utilization,
        )


def same_gpus_aggregated(facts: Facts, requests: Requests, targets: Targets, rate: float) -> Mixed | None:
    """Return the nodes of both phases serving both, each kind with the size of engine that suits best.

    Without targets that is the one that answers soonest at the rate, else the one that serves most within them. None
    where a fact is missing, or where the model fits none of the nodes.
    """
    groups = []
    for phase in facts.phases:
        sizes = list(aggregated_of(facts, phase, requests))
        if sizes:
            groups.append(_best(sizes, requests, targets, rate / len(facts.phases)))
    if not groups:
        return None
    first, *others = groups
    if all(other.engine == first.engine for other in others) and len(groups) > 1:
        groups = [Aggregated(first.engine, sum(group.engines for group in groups))]
    return Mixed(tuple(groups), requests)


def _best(sizes: list[Aggregated], requests: Requests, targets: Targets, rate: float) -> Aggregated:
    if targets.is_empty:
        answers = [each.latency(requests, rate).answer_seconds(requests.output_tokens) for each in sizes]
        if isfinite(min(answers)):
            return sizes[answers.index(min(answers))]
    rates = [most_rate(each, requests, targets) for each in sizes]
    if not any(rates):
        rates = [full_rate(each, requests) for each in sizes]
    return sizes[rates.index(max(rates))]
