"""Nodes of one or two kinds that serve both phases: one kind alone, or each with a share of the load."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from math import isfinite

from constructs_pd.planning.facts import Facts
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.latency import Latency, Requests, saturated
from constructs_pd.planning.performance.most import full_rate, most_rate
from constructs_pd.planning.performance.neutral import aggregated_of
from constructs_pd.planning.performance.targets import Targets


@dataclass(frozen=True, slots=True)
class Split:
    """Groups of equal engines that share the load.

    Attributes:
        groups: The groups.
        shares: The share of the load of each; more than 0, and together 1.
    """

    groups: tuple[Aggregated, ...]
    shares: tuple[float, ...]

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see: means over all requests, and the slower group's percentiles."""
        found = [
            (share, group.latency(requests, rate * share))
            for share, group in zip(self.shares, self.groups, strict=True)
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


@dataclass(frozen=True, slots=True)
class Mixed:
    """Nodes of which those that hold the others up may stand idle.

    Attributes:
        splits: How the load may be shared.
        targets: What clients are promised: it decides which way is taken at a rate.
    """

    splits: tuple[Split, ...]
    targets: Targets

    def latency(self, requests: Requests, rate: float) -> Latency:
        """Return what clients see of the split that suits the rate best."""
        found = [split.latency(requests, rate) for split in self.splits]
        return min(found, key=lambda each: self._order(each, requests))

    def _order(self, found: Latency, requests: Requests) -> tuple[bool, float, float]:
        """Return by what a split is chosen: the targets, or without any the time of a whole answer."""
        if self.targets.is_empty:
            return found.is_saturated, found.answer_seconds(requests.output_tokens), found.utilization
        return not self.targets.are_met(found), self.targets.worst(found), found.utilization


def mixed(groups: Sequence[Aggregated], requests: Requests, targets: Targets) -> Mixed:
    """Return groups of which each serves alone, or all in proportion to what they can.

    What they can is the rate within the targets, and the rate at which they are full: beyond the targets a group serves
    all the same.
    """
    rates = [
        [most_rate(group, requests, targets) for group in groups],
        [full_rate(group, requests) for group in groups],
    ]
    together = _in_proportion(groups, rates[0]), _in_proportion(groups, rates[1])
    return Mixed((*_each_alone(groups), *(split for split in together if split)), targets)


def same_gpus_aggregated(facts: Facts, requests: Requests, targets: Targets, rate: float) -> Mixed | None:
    """Return the nodes of both phases serving both, each instance type with the engines that suit best.

    Without targets those are the ones that answer soonest at what they get of the rate, else the ones that serve most
    within them. None where a fact is missing, or where the model fits none of the nodes.
    """
    nodes: dict[str, int] = {}
    for phase in facts.phases:
        nodes[phase.spec.instance_type] = nodes.get(phase.spec.instance_type, 0) + phase.spec.replicas
    rows = [(facts.catalog.instances.get(name), number) for name, number in nodes.items()]
    found = [list(aggregated_of(facts, row, number, requests)) for row, number in rows if row is not None]
    ways = [each for each in found if each]
    if not ways:
        return None
    alone = [best(each, requests, targets, rate) for each in ways]
    if len(alone) > 1 and not targets.is_empty:
        return mixed(alone, requests, targets)
    return Mixed((*_each_alone(alone), *_sharing(ways, requests, rate)), targets)


def _each_alone(groups: Sequence[Aggregated]) -> Iterator[Split]:
    for group in groups:
        yield Split((group,), (1.0,))


def _in_proportion(groups: Sequence[Aggregated], rates: Sequence[float]) -> Split | None:
    """Return groups that share the load in proportion to rates; none where one serves none, or has nobody beside it."""
    if len(groups) == 1 or not all(rates):
        return None
    return Split(tuple(groups), tuple(rate / sum(rates) for rate in rates))


def _sharing(ways: Sequence[Sequence[Aggregated]], requests: Requests, rate: float) -> Iterator[Split]:
    """Yield engines that answer soonest, each at its share of the rate: that of the most that its nodes can."""
    largest = [_largest(each, requests) or each[0] for each in ways]
    split = _in_proportion(largest, [full_rate(each, requests) for each in largest])
    if split is not None:
        parts = zip(ways, split.shares, strict=True)
        yield Split(tuple(best(each, requests, Targets(), rate * share) for each, share in parts), split.shares)


def best(found: Sequence[Aggregated], requests: Requests, targets: Targets, rate: float) -> Aggregated:
    """Return the engines that answer soonest at a rate, or with targets those that serve most within them."""
    if targets.is_empty:
        answers = [each.latency(requests, rate).answer_seconds(requests.output_tokens) for each in found]
        if isfinite(min(answers)):
            return found[answers.index(min(answers))]
    return (
        _most(found, requests, targets.are_met, lambda each: most_rate(each, requests, targets))
        or _largest(found, requests)
        or found[0]
    )


def _largest(found: Sequence[Aggregated], requests: Requests) -> Aggregated | None:
    """Return what is full last, or none where all are full with any request."""
    return _most(found, requests, lambda latency: not latency.is_saturated, lambda each: full_rate(each, requests))


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
