"""The way of the KV cache from prefill to decode."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grafana_foundation_sdk.models import units

from constructs_pd.manifests.dashboards.board import Board, Panel
from constructs_pd.manifests.dashboards.panels import ORANGE, RED, WIDTH, Mark, Query, figure, lines
from constructs_pd.manifests.monitoring.alerts import LINK_SHARE, RECOMPUTED_SHARE, SLOW_SHARE
from constructs_pd.manifests.monitoring.promql import BY_SERVICE, Scope, scope_of, total
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import HandOverBudgetPlan, MonitoringPlan

BYTES_OF_GBPS: Final = 1e9 / 8


def hand_over(board: Board, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
    """Add the panels of the hand-over; those of the plan's budget only where it is known."""
    scope, budget = scope_of(plan), monitoring.hand_over
    now = [*_now(scope, budget)]
    for panel in now:
        panel.span(WIDTH // len(now))
    board.add(*now)
    board.row("Against what the plan reckons with")
    board.add(*_against_the_plan(scope, budget))
    board.row("Failures")
    board.add(*_failures(scope))
    board.row("Flow")
    board.add(*_flow(scope))


def capacity_marks(budget: HandOverBudgetPlan | None) -> list[Mark]:
    """Return the marks of the links, in bytes per second: where transfers begin to wait, and all of them."""
    if budget is None:
        return []
    whole = budget.capacity_gbps * BYTES_OF_GBPS
    return [Mark(whole * LINK_SHARE, ORANGE), Mark(whole, RED)]


def _time_marks(budget: HandOverBudgetPlan | None) -> list[Mark]:
    if budget is None:
        return []
    slow = [] if budget.slow_seconds is None else [Mark(budget.slow_seconds, RED)]
    return [Mark(budget.longest_seconds, ORANGE), *slow]


def _now(scope: Scope, budget: HandOverBudgetPlan | None) -> Iterator[Panel]:
    if budget is not None:
        yield figure(
            "Links in use",
            "How much of the links is in use? Orange: transfers wait for each other.",
            Query(scope.of("phase:hand_over_link:ratio5m"), "share"),
            unit=units.PercentUnit,
            width=1,
            marks=[Mark(LINK_SHARE, ORANGE), Mark(1, RED)],
        )
    yield figure(
        "Transfer, p95",
        "How long does a transfer take? Orange: longer than the plan reckons for the longest context alone; red: slow.",
        Query(scope.of("phase:hand_over_seconds:quantile5m", 'quantile="0.95"'), "p95"),
        unit=units.Seconds,
        width=1,
        marks=_time_marks(budget),
    )
    failed = scope.of("phase:hand_over_failures:increase5m", 'kind=~"transfer|notification"')
    yield figure(
        "Failed in 5 minutes",
        "Do KV caches fail to arrive? Each GPU counts its own. With any of its transfers a request fails, or is "
        "answered wrong: the page of HandOverFails says which.",
        Query(total(failed, BY_SERVICE), "failed"),
        unit=units.Number,
        width=1,
        marks=[Mark(1, RED)],
    )
    expired = scope.of("phase:hand_over_failures:increase5m", 'kind="expired",phase="prefill"')
    yield figure(
        "Expired in 5 minutes",
        "Does prefill give KV caches up that nobody fetched in time?",
        Query(expired, "expired"),
        unit=units.Number,
        width=1,
        marks=[Mark(1, ORANGE)],
    )


def _against_the_plan(scope: Scope, budget: HandOverBudgetPlan | None) -> Iterator[Panel]:
    moved = "What does decode pull from prefill in a second?"
    if budget is not None:
        gbps = f"{budget.capacity_gbps:g} Gbit/s"
        moved += (
            f" Dashed: {LINK_SHARE:.0%} of {gbps}, where transfers begin to wait, and all of it, as the plan reckons."
        )
    yield lines(
        "Throughput",
        moved,
        [Query(scope.of("phase:hand_over_bytes_per_second:rate5m"), "KV caches")],
        unit=units.BytesPerSecondSI,
        marks=capacity_marks(budget),
    )
    took = "How long does a transfer take, of each GPU?"
    if budget is not None:
        took += f" Dashed: {budget.longest_seconds:.3g} s, as the plan reckons for the longest context alone"
        slow = "" if budget.slow_seconds is None else f", and {budget.slow_seconds:g} s, above which it is slow"
        took += f"{slow}."
    yield lines(
        "Time of a transfer",
        took,
        [Query(scope.of("phase:hand_over_seconds:quantile5m"), "quantile {{quantile}}")],
        unit=units.Seconds,
        marks=_time_marks(budget),
    )
    if budget is not None and budget.slow_seconds is not None:
        yield lines(
            "Slow transfers",
            f"What share of transfers takes more than {budget.slow_seconds:g} s? Dashed: where HandOverSlow fires.",
            [Query(scope.of("phase:hand_over_slow:ratio5m"), "share")],
            unit=units.PercentUnit,
            marks=[Mark(SLOW_SHARE, RED)],
        )
    yield lines(
        "Decode: what the first token waits for, mean",
        "How much of decode's part of the time to the first token is the transfer?",
        [Query(scope.of("phase:ttft_part_seconds:mean5m", 'phase="decode"'), "{{part}}")],
        unit=units.Seconds,
        is_stacked=True,
    )


def _failures(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Failures in 5 minutes",
        "What fails: the transfer, the word to prefill that its memory is free, or was a KV cache not fetched in time?",
        [Query(total(scope.of("phase:hand_over_failures:increase5m"), f"{BY_SERVICE}, kind"), "{{kind}}")],
        unit=units.Number,
        marks=[Mark(1, RED)],
    )
    yield lines(
        "Prompts that decode computed itself",
        "What share of prompt tokens did decode compute, whose work prefill has lost? Dashed: where HandOverBypassed "
        "fires.",
        [Query(scope.of("phase:recomputed_prompt:ratio5m"), "share")],
        unit=units.PercentUnit,
        marks=[Mark(RECOMPUTED_SHARE, RED)],
        most=1,
    )


def _flow(scope: Scope) -> Iterator[Panel]:
    yield lines(
        "Requests in, KV caches over",
        "Does every request that prefill ends reach decode? The lines lie upon each other, if so.",
        [
            Query(scope.of("phase:requests_per_second:rate5m", 'phase="prefill"'), "ended by prefill"),
            Query(scope.of("phase:hand_overs_per_second:rate5m"), "handed over"),
            Query(scope.of("phase:requests_per_second:rate5m", 'phase="decode"'), "begun by decode"),
        ],
        unit=units.RequestsPerSecond,
    )
    yield lines(
        "Requests that wait for their KV cache",
        "How many requests hold a place in decode, and wait for their KV cache?",
        [Query(scope.of("phase:requests_waiting:mean5m", 'phase="decode",reason="deferred"'), "deferred")],
        unit=units.Number,
    )
