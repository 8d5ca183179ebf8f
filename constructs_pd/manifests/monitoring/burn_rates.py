"""How fast what was promised is used up: multi-window, multi-burn-rate alerts.

The Site Reliability Workbook (Google, 2018), chapter 5, "Alerting on SLOs", section 6: a promise over 30 days, of whose
allowance a page goes out for 2 % in an hour or 5 % in six, and a ticket for 10 % in three days; each alert also asks a
window of a twelfth of that, so that it ends soon after its cause.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from constructs_pd.manifests.monitoring.promql import Scope, bucket, number, rule, scope_of, total
from constructs_pd.manifests.monitoring.recording_rules import ITL, TTFT, Rule, error_share
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring import FASTEST_BURN
from constructs_pd.planning.monitoring_plan import LatencyObjective, SloPlan


@dataclass(frozen=True, slots=True)
class BurnRate:
    """One line of the workbook's table 5-8.

    Attributes:
        factor: How many times faster than a promise allows.
        long: The window that must show it.
        short: The window that must show it too.
        severity: Whom it concerns, `critical` (a page) or `warning` (a ticket).
    """

    factor: float
    long: str
    short: str
    severity: str


BURN_RATES: Final = (
    BurnRate(FASTEST_BURN, "1h", "5m", "critical"),
    BurnRate(6, "6h", "30m", "critical"),
    BurnRate(3, "1d", "2h", "warning"),
    BurnRate(1, "3d", "6h", "warning"),
)
WINDOWS: Final = ("5m", "30m", "1h", "2h", "6h", "1d", "3d")
#: Fewer in the long window say nothing: one of them would be a large share.
LEAST_REQUESTS: Final = 10


def slo_rules(plan: DeploymentPlan, slo: SloPlan) -> Iterator[Rule]:
    """Yield the shares that break a promise, for each window."""
    scope = scope_of(plan)
    for window in WINDOWS:
        for objective in slo.ttft:
            share = slow_share(scope, TTFT, objective, window)
            yield rule(f"phase:ttft_slow:ratio_rate{window}", share, {"phase": objective.phase})
        if slo.itl is not None:
            yield rule(f"phase:itl_slow:ratio_rate{window}", slow_share(scope, ITL, slo.itl, window))
        # That of five minutes is there without a promise too.
        if slo.availability is not None and window != "5m":
            yield rule(f"endpoint:errors:ratio_rate{window}", error_share(scope, window))


def slow_share(scope: Scope, histogram: str, objective: LatencyObjective, window: str) -> str:
    """Return the share of what a phase measures that took longer, interpolated as histogram_quantile does."""
    phase = f'phase="{objective.phase}"'

    def within(seconds: float) -> str:
        return total(scope.counters(f"{histogram}_bucket", window, f"{phase},{bucket(seconds)}"))

    count = total(scope.counters(f"{histogram}_count", window, phase))
    below, above = objective.below_seconds, objective.above_seconds
    if below == above:
        return f"1 - {within(above)} / ({count} > 0)"
    reached = (objective.seconds - (below or 0)) / (above - (below or 0))
    upper = f"{within(above)} * {number(reached)}"
    lower = f" + {within(below)} * {number(1 - reached)}" if below is not None else ""
    return f"1 - ({upper}{lower}) / ({count} > 0)"


def burn_expressions(record: str, allowed: float, number_of: str, by: str = "") -> Iterator[tuple[str, str]]:
    """Yield severity and expression of the two alerts about a promise.

    Args:
        record: The rule of the share that breaks it, without its window, and its matchers.
        allowed: The share that may.
        number_of: How many there were, an expression with `WINDOW` for the window. Of too few the share says nothing.
        by: The labels by which shares are added that use up one allowance together, or none.
    """
    name, matchers = record.split("{", 1)

    def above(window: str, limit: float, enough: str = "") -> str:
        share = f"{name}{window}{{{matchers}"
        if by:
            return f"{total(share + enough, by)} > {number(limit)}"
        return f"{share} > {number(limit)}{enough}"

    for severity in ("critical", "warning"):
        lines = [
            f"({above(rate.long, rate.factor * allowed, f' and {_enough(number_of, rate.long)}')}"
            f" and {above(rate.short, rate.factor * allowed)})"
            for rate in BURN_RATES
            if rate.severity == severity
        ]
        yield severity, " or ".join(lines)


def _enough(number_of: str, window: str) -> str:
    return f"{number_of.replace('WINDOW', window)} >= {LEAST_REQUESTS}"


def counted(selector: str, by: str) -> str:
    """Return how many counters counted in `WINDOW`."""
    return total(f"increase({selector}[WINDOW])", by)
