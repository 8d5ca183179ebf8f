"""How many nodes of each phase a workload takes, what they cost, and whether the phases should be apart."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from math import inf
from typing import Any, Final

from constructs_pd.findings import Finding, PlanError, Severity
from constructs_pd.planning.catalog.loader import Catalog, load_catalog
from constructs_pd.planning.codes import UNSERVABLE
from constructs_pd.planning.facts import Facts, gather
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.hand_over import sustained
from constructs_pd.planning.performance.acceptance import Acceptance
from constructs_pd.planning.performance.accuracy import Accuracy, accuracies
from constructs_pd.planning.performance.advice import Advice, advise
from constructs_pd.planning.performance.aggregated import Aggregated
from constructs_pd.planning.performance.cost import Cost, QuotaNeed, cost, quota_needs
from constructs_pd.planning.performance.disaggregated import Disaggregated
from constructs_pd.planning.performance.engines import (
    disaggregated_of,
    requests_of,
    unknown_speed,
)
from constructs_pd.planning.performance.latency import Latency, Requests
from constructs_pd.planning.performance.mixed import same_gpus_aggregated
from constructs_pd.planning.performance.most import Served, full_rate, most_rate
from constructs_pd.planning.performance.neutral import aggregated_of
from constructs_pd.planning.performance.replicas import fewest_apart, fewest_together
from constructs_pd.planning.performance.targets import BUSY, Targets, targets_of
from constructs_pd.planning.performance.workload import Workload
from constructs_pd.planning.performance.workload_mistakes import workload_mistakes
from constructs_pd.planning.resolve import examine
from constructs_pd.planning.rules import RULES
from constructs_pd.planning.rules.pd227_hand_over_time import RULE as HAND_OVER_TIME
from constructs_pd.planning.rules.pd228_emulated_reads import RULE as EMULATED_READS

# Points of a curve up to each of both limits, and how far beyond it goes.
_POINTS: Final = 16
_BEYOND: Final = 1.05
# A field of a phase, such as decode.tensor_parallel.
_OF_A_PHASE: Final = re.compile(r"\b(prefill|decode)\.")
# What more nodes do not mend: a prompt alone takes long, or reads are emulated.
_OF_HAND_OVER: Final = (HAND_OVER_TIME, EMULATED_READS)
_REMEDY: Final = "consider other instance types, promise less, or raise most_nodes"
# Of engines on all GPUs of a node: those that serve both phases may be smaller, and are as these rules ask.
_OF_SIZES: Final = frozenset({"PD203", "PD209", "PD309"})
_OF_BOTH_PHASES: Final = frozenset(rule.code for rule in RULES if rule.code.startswith("PD3"))


@dataclass(frozen=True, slots=True)
class Option:
    """Nodes that serve a workload within its targets.

    Attributes:
        prefill: The instance type of prefill, and how many.
        decode: The same of decode.
        latency: What clients see.
        most_rate: The most requests in a second within the targets.
        full_rate: The requests in a second at which it is full.
        fills_first: What is full then.
        cost: What it costs, or none without prices.
        quotas: What it takes of EC2's quotas.
        gpus: GPUs of all nodes.
        ttft_accuracy: How far such predictions of TTFT were off.
        itl_accuracy: The same of ITL.
        warnings: What the planner finds much of the hand-over with any number of nodes.
    """

    prefill: tuple[str, int]
    decode: tuple[str, int]
    latency: Latency
    most_rate: float
    full_rate: float
    fills_first: str
    cost: Cost | None
    quotas: tuple[QuotaNeed, ...]
    gpus: int
    ttft_accuracy: Accuracy
    itl_accuracy: Accuracy
    warnings: tuple[Finding, ...]


@dataclass(frozen=True, slots=True)
class _Refusal:
    """Why a pair of instance types does not serve a workload, and what could be done."""

    reason: str
    remedy: str = _REMEDY


@dataclass(frozen=True, slots=True)
class Together:
    """Nodes that would serve both phases within the targets; this library deploys none such.

    Attributes:
        instance_type: Their instance type.
        nodes: How many.
        tensor_parallel: GPUs of an engine.
        latency: What clients would see.
        cost: What they cost, or none without prices.
        gpus: GPUs of all nodes.
    """

    instance_type: str
    nodes: int
    tensor_parallel: int
    latency: Latency
    cost: Cost | None
    gpus: int


@dataclass(frozen=True, slots=True)
class Point:
    """What clients see at a rate, both ways."""

    rate: float
    apart: Latency
    together: Latency


@dataclass(frozen=True, slots=True)
class Sizing:
    """The answer to a workload.

    Attributes:
        workload: The workload.
        options: What serves it, the cheapest first; after all others what a rule warns of.
        together: The cheapest that would serve both phases on the same nodes, or none.
        advice: Whether the first option's phases should be apart, compared with its own nodes serving both.
        curve: What clients see of the first option and of its nodes serving both, over rates.
        rejected: Why the other pairs of instance types do not serve it.
    """

    workload: Workload
    options: tuple[Option, ...]
    together: Together | None
    advice: Advice
    curve: tuple[Point, ...]
    rejected: tuple[str, ...]

    @property
    def specification(self) -> dict[str, Any]:
        """The first option's specification, as its file would hold it."""
        best = self.options[0]
        return self.workload.specification(best.prefill, best.decode)


def size(workload: Workload, catalog: Catalog | None = None) -> Sizing:
    """Return how a workload is served best.

    Raises:
        PlanError: The workload has mistakes; or nothing that is considered serves it within its targets, with what
            stands in the way of each.
    """
    catalog = catalog if catalog is not None else load_catalog()
    mistakes = workload_mistakes(workload, catalog)
    if mistakes:
        raise PlanError(mistakes)
    requests = requests_of(workload.traffic)
    assert requests is not None  # a workload states its answers' lengths
    targets = targets_of(workload.slo)
    options: list[Option] = []
    rejected: dict[tuple[str, str], _Refusal] = {}
    for prefill, decode in product(workload.instance_types, repeat=2):
        found = _option(workload, catalog, requests, targets, prefill, decode)
        if isinstance(found, _Refusal):
            rejected[prefill, decode] = found
        else:
            options.append(found)
    if not options:
        raise PlanError(list(_unservable(rejected)))
    options.sort(key=_rank)
    best = gather(workload.deployment(options[0].prefill, options[0].decode), catalog)
    together_on = _together(workload, catalog, requests, targets)
    requests = requests.within(context_tokens(best))
    apart = disaggregated_of(best, requests)
    rate = workload.traffic.requests_per_second
    together = same_gpus_aggregated(best, requests, targets, rate)
    assert apart is not None
    assert together is not None  # the option was found with the same facts
    return Sizing(
        workload=workload,
        options=tuple(options),
        together=together_on,
        advice=advise(requests, rate, targets, apart, together),
        curve=tuple(_curve(requests, apart, together)),
        rejected=tuple(dict.fromkeys(each.reason for each in rejected.values())),
    )


def _rank(option: Option) -> tuple[bool, float, int, tuple[str, int], tuple[str, int]]:
    per_hour = option.cost.per_hour if option.cost else inf
    return (bool(option.warnings), per_hour, option.gpus, option.prefill, option.decode)


def _option(
    workload: Workload, catalog: Catalog, requests: Requests, targets: Targets, prefill: str, decode: str
) -> Option | _Refusal:
    """Return the nodes of a pair of instance types that serve the workload, or why there are none."""
    facts = _trial(workload, catalog, prefill, decode)
    refused = next((finding for finding in examine(facts) if finding.severity is Severity.ERROR), None)
    if refused is not None:
        return _refusal(refused, prefill, decode)
    name, context = _named(prefill, decode), context_tokens(facts)
    if context is not None and requests.longest_tokens > context:
        reason = f"{name}: requests of {requests.longest_tokens:,.0f} tokens do not fit a context of {context:,}"
        return _Refusal(reason, "consider other instance types, or state shorter requests")
    requests = requests.within(context)
    apart = disaggregated_of(facts, requests)
    if apart is None:
        return _unpredicted(facts, name)
    rate, most = workload.traffic.requests_per_second, workload.most_nodes
    weights, asked = _weights(workload, facts), Acceptance(targets, sustained(facts, workload.traffic))
    numbers = fewest_apart(
        apart, requests, rate, asked, most, lambda left, right: left * weights[0] + right * weights[1]
    )
    if numbers is None:
        return _Refusal(f"{name}: {_why_not(apart.with_engines(most, most), requests, rate, asked, most)}")
    return _served(workload, facts, apart.with_engines(*numbers), requests, targets)


def _unpredicted(facts: Facts, name: str) -> _Refusal:
    missing = unknown_speed(facts)
    if missing:
        return _Refusal(f"{missing} is not known", "consider other instance types, or measure a deployment itself")
    reason = f"{name}: a request does not fit an engine's KV cache"
    return _Refusal(reason, "consider instance types with more memory, or state shorter requests")


def _refusal(refused: Finding, prefill: str, decode: str) -> _Refusal:
    """Return an error of a pair, of one phase in the same words whatever serves the other: so it is said once."""
    phase = refused.subject.partition(".")[0] if refused.code not in _OF_BOTH_PHASES else ""
    alone = {"prefill": f"{prefill} for prefill", "decode": f"{decode} for decode"}.get(phase)
    reason = f"{alone or _named(prefill, decode)}: {refused.code} {refused.message}"
    if _OF_A_PHASE.search(refused.remedy):  # which a workload does not state
        return _Refusal(reason, f"consider other instance types, or in a specification of your own {refused.remedy}")
    return _Refusal(reason, refused.remedy)


def _weights(workload: Workload, facts: Facts) -> list[float]:
    """Return by what a node of each phase is weighed: its price, or its GPUs where either price is not known."""
    prices = [workload.prices_per_hour.get(phase.spec.instance_type) for phase in facts.phases]
    gpus = [phase.instance.gpu.count if phase.instance else 1 for phase in facts.phases]
    known = [price for price in prices if price is not None]
    return known if len(known) == len(prices) else [float(count) for count in gpus]


def _trial(workload: Workload, catalog: Catalog, prefill: str, decode: str) -> Facts:
    """Return the facts of one node each, without traffic: what the traffic takes is found out here."""
    spec = workload.deployment((prefill, 1), (decode, 1))
    return gather(spec.model_copy(update={"traffic": None}), catalog)


def _served(workload: Workload, facts: Facts, apart: Disaggregated, requests: Requests, targets: Targets) -> Option:
    rate = workload.traffic.requests_per_second
    names = [phase.spec.instance_type for phase in facts.phases]
    numbers = [apart.prefill_engines, apart.decode_engines]
    nodes = [(phase.instance, number) for phase, number in zip(facts.phases, numbers, strict=True) if phase.instance]
    full, (ttft, itl) = full_rate(apart, requests), accuracies(facts)
    return Option(
        prefill=(names[0], numbers[0]),
        decode=(names[1], numbers[1]),
        latency=apart.latency(requests, rate),
        most_rate=most_rate(apart, requests, targets),
        full_rate=full,
        fills_first=apart.latency(requests, full).bottleneck,
        cost=_cost(workload, requests, list(zip(names, numbers, strict=True))),
        quotas=quota_needs(facts.catalog, nodes),
        gpus=sum(instance.gpu.count * number for instance, number in nodes),
        ttft_accuracy=ttft,
        itl_accuracy=itl,
        warnings=_warnings(workload, facts.catalog, (names[0], numbers[0]), (names[1], numbers[1])),
    )


def _warnings(
    workload: Workload, catalog: Catalog, prefill: tuple[str, int], decode: tuple[str, int]
) -> tuple[Finding, ...]:
    facts = gather(workload.deployment(prefill, decode), catalog)
    return tuple(finding for rule in _OF_HAND_OVER for finding in rule.findings(facts))


def _cost(workload: Workload, requests: Requests, nodes: list[tuple[str, int]]) -> Cost | None:
    prices = workload.prices_per_hour
    if any(name not in prices for name, _ in nodes):
        return None
    per_hour = sum(prices[name] * number for name, number in nodes)
    traffic = workload.traffic
    prompt_tokens = requests.mean_factor * traffic.prompt_tokens  # of what is served
    return cost(per_hour, traffic.requests_per_second, prompt_tokens, requests.output_tokens)


def _why_not(apart: Disaggregated, requests: Requests, rate: float, asked: Acceptance, most: int) -> str:
    """Return what stands in the way even with the most engines of both phases."""
    found = apart.latency(requests, rate)
    nodes = f"{most} {'node' if most == 1 else 'nodes'} of each phase"
    if found.is_saturated:
        return f"{nodes} cannot serve {rate:,.10g} requests a second: {found.bottleneck} is full"
    missed = [f"{name} is {seconds:.3g} for {promised:g}" for name, seconds, promised in asked.targets.missed(found)]
    if asked.is_too_busy(found):
        missed.append(f"{found.bottleneck} is busy for {found.utilization:.0%} of its time, and {BUSY:.0%} is much")
    return f"with {nodes} " + " and ".join([*missed, *asked.much(most, most)])


def _together(workload: Workload, catalog: Catalog, requests: Requests, targets: Targets) -> Together | None:
    """Return the cheapest nodes that would serve both phases."""
    rate, found = workload.traffic.requests_per_second, []
    for name in dict.fromkeys(workload.instance_types):
        facts = _trial(workload, catalog, name, name)
        instance = facts.decode.instance
        if instance is None or _is_refused(facts):
            continue
        requests = requests.within(context_tokens(facts))
        ways = list(aggregated_of(facts, instance, 1, requests))
        served = _fewest_of(ways, requests, rate, Acceptance(targets), workload)
        if served is not None:
            nodes = served.engines * served.engine.tensor_parallel // instance.gpu.count
            found.append(
                Together(
                    instance_type=name,
                    nodes=nodes,
                    tensor_parallel=served.engine.tensor_parallel,
                    latency=served.latency(requests, rate),
                    cost=_cost(workload, requests, [(name, nodes)]),
                    gpus=nodes * instance.gpu.count,
                )
            )
    return min(found, key=lambda each: (each.cost.per_hour if each.cost else inf, each.gpus), default=None)


def _is_refused(facts: Facts) -> bool:
    """Return whether nodes of one type are refused, whatever the size of their engines."""
    errors = {finding.code for finding in examine(facts) if finding.severity is Severity.ERROR}
    return not errors <= _OF_SIZES


def _fewest_of(
    ways: list[Aggregated], requests: Requests, rate: float, asked: Acceptance, workload: Workload
) -> Aggregated | None:
    """Return the way that takes the fewest nodes, with those, of ways that are stated for one node."""
    found, most = None, 2 * workload.most_nodes
    for each in ways:
        nodes = fewest_together(each, requests, rate, asked, most) if most else None
        if nodes is not None:
            found, most = Aggregated(each.engine, each.engines * nodes), nodes - 1
    return found


def _curve(requests: Requests, apart: Served, together: Served) -> Iterator[Point]:
    """Yield both ways' latencies from next to nothing to where each is full: one may be full far before the other."""
    lasts = [_BEYOND * full_rate(way, requests) for way in (apart, together)]
    rates = {last * number / _POINTS for last in lasts for number in range(1, _POINTS + 1)}
    for rate in sorted(rate for rate in rates if rate > 0):
        yield Point(rate, apart.latency(requests, rate), together.latency(requests, rate))


def _named(prefill: str, decode: str) -> str:
    return prefill if prefill == decode else f"{prefill} for prefill and {decode} for decode"


def _unservable(rejected: dict[tuple[str, str], _Refusal]) -> Iterator[Finding]:
    """Yield why no instance type serves it for both phases, and that no two of them do: that would be many lines."""
    alike = {refusal.reason: refusal for (prefill, decode), refusal in rejected.items() if prefill == decode}
    for refusal in alike.values():
        yield UNSERVABLE.finding("instance_types", refusal.reason, refusal.remedy)
    pairs = [pair for pair in rejected if pair[0] != pair[1]]
    if pairs:
        reason = f"with two different types: none of the {len(pairs)} pairs is enough either"
        yield UNSERVABLE.finding("instance_types", reason, _REMEDY)
