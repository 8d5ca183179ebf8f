"""The overview: prefill in the left column, decode in the right one, everything of each in the same places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from grafana_foundation_sdk.builders.dashboard import DashboardLink
from grafana_foundation_sdk.models import units
from grafana_foundation_sdk.models.dashboard import DashboardLinkType

from constructs_pd.manifests.dashboards.board import Board, Panel
from constructs_pd.manifests.dashboards.panels import GREEN, ORANGE, RED, WIDTH, Mark, Query, figure, lines, states
from constructs_pd.manifests.monitoring.alerts import KV_CACHE_SHARE, WAITING
from constructs_pd.manifests.monitoring.promql import BY_SERVICE, Scope, scope_of, total
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import MonitoringPlan, PhaseOrHead, SloPlan

PHASES: Final[tuple[PhaseOrHead, ...]] = ("prefill", "decode")
_SIXTH: Final = WIDTH // 6
_DECIMALS: Final = 9


def overview(board: Board, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
    """Add the panels of the overview."""
    scope, slo = scope_of(plan), monitoring.slo
    board.add(*_now(scope, monitoring))
    board.add(_alerts(scope, monitoring.runbooks))
    board.row("Time to the first token")
    board.add(*_ttft(scope, slo))
    board.row("Speed")
    board.add(*_speed(scope, slo))
    board.row("Load")
    for panel in _load(scope, monitoring):
        board.add(*_beside(panel))


def ttft_marks(slo: SloPlan | None, phase: str) -> list[Mark]:
    """Return the mark of a phase's part of the promised time to the first token, if there is one."""
    parts = slo.ttft if slo is not None else ()
    return [Mark(part.seconds, RED) for part in parts if part.phase == phase]


def allowed_errors(slo: SloPlan | None) -> list[Mark]:
    """Return the mark of the share of errors that the promise allows, if there is one."""
    if slo is None or slo.availability is None:
        return []
    # Rounded, as what a user states in decimals is no such number in binary.
    return [Mark(round(1 - slo.availability, _DECIMALS), RED)]


def promised(value: float | None) -> list[Mark]:
    """Return the mark of a promise, if there is one."""
    return [] if value is None else [Mark(value, RED)]


def _now(scope: Scope, monitoring: MonitoringPlan) -> Iterator[Panel]:
    slo = monitoring.slo
    yield figure(
        "Requests",
        "How many requests does the endpoint answer in a second?",
        Query(total(scope.of("endpoint:requests_per_second:rate5m"), BY_SERVICE), "requests"),
        unit=units.RequestsPerSecond,
        width=_SIXTH,
    )
    yield figure(
        "Errors",
        "What share of requests ends with an error of the endpoint's own? Red: more than was promised.",
        Query(scope.of("endpoint:errors:ratio_rate5m"), "errors"),
        unit=units.PercentUnit,
        width=_SIXTH,
        marks=allowed_errors(slo),
    )
    p95 = scope.of("phase:ttft_seconds:quantile5m", 'quantile="0.95"')
    yield figure(
        "First token, p95",
        "How long do both phases take until the first token? A guess, too high or too low: their p95 added, "
        "without the wait in Serve's router. Red: longer than was promised.",
        Query(total(p95, BY_SERVICE), "p95"),
        unit=units.Seconds,
        width=_SIXTH,
        marks=promised(slo.ttft_seconds if slo is not None else None),
    )
    yield figure(
        "Between tokens, p95",
        "How quickly do tokens follow each other? Red: more slowly than was promised.",
        Query(scope.of("phase:itl_seconds:quantile5m", 'quantile="0.95"'), "p95"),
        unit=units.Seconds,
        width=_SIXTH,
        marks=promised(slo.itl.seconds if slo is not None and slo.itl is not None else None),
    )
    for phase in PHASES:
        planned = monitoring.replicas[phase]
        yield figure(
            f"Replicas of {phase}",
            f"Are all replicas of {phase} healthy? Planned: {planned}.",
            Query(scope.of("phase:replicas_healthy:count", f'phase="{phase}"'), "healthy"),
            unit=units.Number,
            width=_SIXTH,
            base=RED,
            marks=[Mark(planned, GREEN)],
        )


def _alerts(scope: Scope, runbooks: str) -> Panel:
    firing = scope.of("ALERTS", 'alertstate="firing"')
    panel = states(
        "Alerts that fire",
        "Is something wrong, of which phase, and since when? Each alert has a page that says what to do.",
        Query(f"max by (alertname, severity, phase, pod) ({firing})", "{{alertname}} {{phase}} {{pod}} ({{severity}})"),
    )
    if runbooks.startswith("http"):
        panel.links([DashboardLink("what to do").type(DashboardLinkType.LINK).url(runbooks).target_blank(True)])
    return panel


def _beside(panel: Callable[[str], Panel]) -> list[Panel]:
    """Return a panel of prefill and the same of decode."""
    return [panel(phase) for phase in PHASES]


def _ttft(scope: Scope, slo: SloPlan | None) -> Iterator[Panel]:
    waits = {
        "prefill": "from its arrival to prefill's one token",
        "decode": "from prefill's answer to decode's first token, with the wait for the KV cache",
    }
    parts = {
        "prefill": "waiting for a place, or computing the prompt",
        "decode": "waiting for a place, the transfer of the KV cache, or decode's first step",
    }

    def quantiles(phase: str) -> Panel:
        return lines(
            f"{phase}: time to the first token",
            f"How long is a request in {phase}, {waits[phase]}? Dashed: {phase}'s part of the promise, for 95 of 100.",
            [Query(scope.of("phase:ttft_seconds:quantile5m", f'phase="{phase}"'), "quantile {{quantile}}")],
            unit=units.Seconds,
            marks=ttft_marks(slo, phase),
        )

    def split(phase: str) -> Panel:
        return lines(
            f"{phase}: what the time goes to, mean",
            f"What does a request wait for in {phase}: {parts[phase]}?",
            [Query(scope.of("phase:ttft_part_seconds:mean5m", f'phase="{phase}"'), "{{part}}")],
            unit=units.Seconds,
            is_stacked=True,
        )

    yield from _beside(quantiles)
    yield from _beside(split)


def _speed(scope: Scope, slo: SloPlan | None) -> Iterator[Panel]:
    def prompts(phase: str) -> Panel:
        expected = {"prefill": "computed here, or found in its cache", "decode": "all from prefill, if all is well"}
        return lines(
            f"{phase}: tokens of prompts",
            f"How many tokens of prompts does {phase} take in a second, and where from: {expected[phase]}?",
            [Query(scope.of("phase:prompt_tokens_per_second:rate5m", f'phase="{phase}"'), "{{source}}")],
            unit=units.CountsPerSecond,
            is_stacked=True,
        )

    yield from _beside(prompts)
    yield lines(
        "prefill: found in its prefix cache",
        "What share of the tokens of prompts needs no computation, because prefill had them?",
        [Query(scope.of("phase:prefix_cache_hits:ratio5m", 'phase="prefill"'), "share")],
        unit=units.PercentUnit,
        most=1,
    )
    yield lines(
        "decode: time between tokens",
        "How quickly do tokens follow each other? Dashed: the promise, for 95 of 100.",
        [Query(scope.of("phase:itl_seconds:quantile5m", 'phase="decode"'), "quantile {{quantile}}")],
        unit=units.Seconds,
        marks=promised(slo.itl.seconds if slo is not None and slo.itl is not None else None),
    )
    generated = {
        "prefill": "One for each request, which decode's first takes the place of.",
        "decode": "It is what clients get.",
    }
    for phase in PHASES:
        yield lines(
            f"{phase}: tokens that are generated",
            f"How many tokens does {phase} generate in a second? {generated[phase]}",
            [Query(scope.of("phase:generation_tokens_per_second:rate5m", f'phase="{phase}"'), "tokens")],
            unit=units.CountsPerSecond,
        )


def _load(scope: Scope, monitoring: MonitoringPlan) -> Iterable[Callable[[str], Panel]]:
    def of(record: str, phase: str) -> str:
        return scope.of(record, f'phase="{phase}"')

    def requests(phase: str) -> Panel:
        return lines(
            f"{phase}: requests",
            f"How many requests get a token from {phase} in a second? Both phases should have as many.",
            [Query(of("phase:requests_per_second:rate5m", phase), "requests")],
            unit=units.RequestsPerSecond,
        )

    def waiting(phase: str) -> Panel:
        return lines(
            f"{phase}: requests that run and wait",
            f"Is {phase} busy, and what do requests wait for: room in the engine (capacity), their KV cache "
            "(deferred), or Serve's router?",
            [
                Query(of("phase:requests_running:mean5m", phase), "running"),
                Query(of("phase:requests_waiting:mean5m", phase), "waiting: {{reason}}"),
            ],
            unit=units.Number,
            is_stacked=True,
        )

    def queue(phase: str) -> Panel:
        return lines(
            f"{phase}: queue of each replica",
            f"Is {phase} the phase to scale? It is where this is above the line, and far above the other phase's.",
            [Query(of("phase:queue_per_replica:mean5m", phase), "waiting for each replica")],
            unit=units.Number,
            marks=[Mark(WAITING, ORANGE)],
        )

    def cache(phase: str) -> Panel:
        return lines(
            f"{phase}: KV cache in use",
            f"How full is the KV cache of the fullest engine of {phase}? Above the line they wait or are preempted.",
            [Query(of("phase:kv_cache_usage:max5m", phase), "fullest engine")],
            unit=units.PercentUnit,
            marks=[Mark(KV_CACHE_SHARE, RED)],
            most=1,
        )

    def preempted(phase: str) -> Panel:
        return lines(
            f"{phase}: requests that were preempted",
            f"How many requests of {phase} lost their KV cache in 5 minutes, and are computed again?",
            [Query(of("phase:preemptions:increase5m", phase), "preempted")],
            unit=units.Number,
            marks=[Mark(1, ORANGE)],
        )

    def replicas(phase: str) -> Panel:
        planned = monitoring.replicas["prefill" if phase == "prefill" else "decode"]
        return lines(
            f"{phase}: replicas and pods",
            f"Is all of {phase} there? Dashed: {planned}, as planned. A pod that is lost takes its replica along.",
            [
                Query(of("phase:replicas_healthy:count", phase), "healthy replicas"),
                Query(of("phase:pods_scraped:count", phase), "pods that answer"),
            ],
            unit=units.Number,
            marks=[Mark(planned, GREEN)],
        )

    return (requests, waiting, queue, cache, preempted, replicas)
