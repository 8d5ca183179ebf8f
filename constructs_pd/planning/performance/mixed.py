"""Nodes of one or two kinds that serve both phases, each kind in proportion to what it can."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.latency import Latency, Requests, saturated
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.neutral import aggregated_of
from constructs_pd.planning.performance.targets import Targets


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
    """Return the nodes of both phases serving both, each instance type with the engines that suit best.

    Without targets those are the ones that answer soonest at the rate, else the ones that serve most within them. None
    where a fact is missing, or where the model fits none of the nodes.
    """
    nodes: dict[str, int] = {}
    for phase in facts.phases:
        nodes[phase.spec.instance_type] = nodes.get(phase.spec.instance_type, 0) + phase.spec.replicas
    rows = [(facts.catalog.instances.get(name), number) for name, number in nodes.items()]
    sizes = [list(aggregated_of(facts, row, number, requests)) for row, number in rows if row is not None]
    groups = tuple(best(each, requests, targets, rate / len(nodes)) for each in sizes if each)
    return Mixed(groups, requests) if groups else None


def best(found: Sequence[Aggregated], requests: Requests, targets: Targets, rate: float) -> Aggregated:
    """Return the engines that answer soonest at a rate, or with targets those that serve most within them."""
    if targets.is_empty:
        answers = [each.latency(requests, rate).answer_seconds(requests.output_tokens) for each in found]
        if isfinite(min(answers)):
            return found[answers.index(min(answers))]
    return (
        _most(found, requests, targets.are_met, lambda each: most_rate(each, requests, targets))
        or _most(found, requests, lambda latency: not latency.is_saturated, lambda each: full_rate(each, requests))
        or found[0]
    )


def _most(
    found: Sequence[Aggregated],
    requests: Requests,
    is_enough: Callable[[Latency], bool],
    rate_of: Callable[[Aggregated], float],
) -> Aggregated | None:
    """Return what has the largest rate, or none where all have none.

    Most are out after one look at the largest rate so far.
    """
    first, most = None, 0.0
    for each in found:
        if first is None or is_enough(each.latency(requests, most)):
            rate = rate_of(each)
            if rate > most:
                first, most = each, rate
    return first
