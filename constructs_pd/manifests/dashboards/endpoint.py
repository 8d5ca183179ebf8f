"""The endpoint as its clients see it, at Serve's proxies."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from grafana_foundation_sdk.models import units

from constructs_pd.manifests.dashboards.board import Board, Panel
from constructs_pd.manifests.dashboards.overview import allowed_errors, promised
from constructs_pd.manifests.dashboards.panels import GREEN, ORANGE, RED, WIDTH, Mark, Query, lines
from constructs_pd.manifests.monitoring.burn_rates import BURN_RATES
from constructs_pd.manifests.monitoring.promql import BY_SERVICE, Scope, number, scope_of, total
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import MonitoringPlan, SloPlan

#: The windows of an hour and of a day: fast burns and slow ones.
_WINDOWS: Final = ("1h", "1d")


def endpoint(board: Board, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
    """Add the panels of the endpoint, and of what was promised of it."""
    scope, slo = scope_of(plan), monitoring.slo
    board.row("Requests")
    board.add(*_requests(scope, slo, plan.timeouts.request_seconds))
    board.row("Time to the first token")
    board.add(*_ttft(scope, slo))
    if slo is not None:
        board.row("Promises, over 30 days")
        for window in _WINDOWS:
            board.add(_burning(scope, slo, window))


def _requests(scope: Scope, slo: SloPlan | None, limit_seconds: float) -> Iterator[Panel]:
    yield lines(
        "Requests by status code",
        "How many requests does the endpoint answer in a second, and with what? 499 is a client that left.",
        [Query(scope.of("endpoint:requests_per_second:rate5m"), "{{status_code}}")],
        unit=units.RequestsPerSecond,
        is_stacked=True,
    )
    yield lines(
        "Errors of the endpoint",
        "What share of requests ends with an error of the endpoint's own, a 5xx or 408? Dashed: what was promised.",
        [Query(scope.of("endpoint:errors:ratio_rate5m"), "errors")],
        unit=units.PercentUnit,
        marks=allowed_errors(slo),
    )
    yield lines(
        "Whole requests",
        "How long does a request take until its last token? It depends on how many there are; "
        f"the endpoint ends it after {limit_seconds:g} s.",
        [Query(scope.of("endpoint:request_seconds:quantile5m"), "quantile {{quantile}}")],
        unit=units.Seconds,
        width=WIDTH,
    )


def _ttft(scope: Scope, slo: SloPlan | None) -> Iterator[Panel]:
    whole = slo.ttft_seconds if slo is not None else None
    by_quantile = f"{BY_SERVICE}, quantile"
    yield lines(
        "Time to the first token, of both phases",
        "How long do both phases take until the first token? The two added, a guess that may be too high or too low: "
        "no metric holds the whole. The wait in Serve's router and the way to the endpoint are not in it. Dashed: the "
        "promise, for 95 of 100.",
        [Query(total(scope.of("phase:ttft_seconds:quantile5m"), by_quantile), "quantile {{quantile}}")],
        unit=units.Seconds,
        marks=promised(whole),
    )
    parts = {
        "prefill": {"queue": "wait for prefill", "prefill": "prefill"},
        "decode": {"queue": "wait for decode", "transfer": "transfer", "first_step": "first step"},
    }
    record = "phase:ttft_part_seconds:mean5m"
    yield lines(
        "What the first token waits for, mean",
        "Which part of the way to scale or to mend, when the first token is late?",
        [
            Query(scope.of(record, f'phase="{phase}",part="{part}"'), name)
            for phase, names in parts.items()
            for part, name in names.items()
        ],
        unit=units.Seconds,
        is_stacked=True,
    )


def _burning(scope: Scope, slo: SloPlan, window: str) -> Panel:
    (rate,) = (rate for rate in BURN_RATES if rate.long == window)
    return lines(
        f"How fast promises are used up, {window}",
        f"How many times faster than a promise allows is it broken, over {window}? At 1 a month uses up all of it; at "
        f"{number(rate.factor)}, and over {rate.short} too, an alert of severity {rate.severity} fires.",
        list(_burns(scope, slo, window)),
        unit=units.Number,
        marks=[Mark(1, GREEN), Mark(rate.factor, RED if rate.severity == "critical" else ORANGE)],
    )


def _burns(scope: Scope, slo: SloPlan, window: str) -> Iterator[Query]:
    def share(record: str) -> str:
        return scope.of(f"{record}:ratio_rate{window}")

    def burn(record: str, allowed: float) -> str:
        return f"{share(record)} / {number(allowed)}"

    if slo.ttft:
        allowed = 1 - slo.ttft[0].share
        yield Query(f"{total(share('phase:ttft_slow'), BY_SERVICE)} / {number(allowed)}", "first token")
        yield Query(burn("phase:ttft_slow", allowed), "of it {{phase}}")
    if slo.itl is not None:
        yield Query(burn("phase:itl_slow", 1 - slo.itl.share), "between tokens")
    if slo.availability is not None:
        yield Query(burn("endpoint:errors", 1 - slo.availability), "errors")
