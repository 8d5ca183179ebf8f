"""PromQL of one deployment: selectors, and the expressions that more than one rule needs.

Ray's way of exporting metrics (2.58.0, _private/telemetry/open_telemetry_metric_recorder.py) decides much of it:

- A counter is there from its first event on, so `increase` never sees that one: `events` does,
  but for what was counted before a pod was scraped at all.
- A gauge that is not set for 20 s is gone, as those of an idle engine are: `mean_of_gauge` takes that for zero.
- A histogram's sum is made of the middles of its buckets: a mean is as coarse as its buckets.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from constructs_pd.planning.deployment_plan import DeploymentPlan

#: The target labels that scraping adds (pod_monitors.py); `namespace` and `pod` are the operator's own.
SERVICE_LABEL: Final = "ray_service"
PHASE_LABEL: Final = "phase"
#: Of exporters of nodes alone, whose targets have the phase of their node: Ray's pods are those without it.
EXPORTER_LABEL: Final = "exporter"
BY_SERVICE: Final = f"namespace, {SERVICE_LABEL}"
BY_PHASE: Final = f"{BY_SERVICE}, {PHASE_LABEL}"
_BY_POD: Final = "namespace, pod"
#: Prometheus' rule of thumb: four scrapes and more. Shorter than the alerts' shortest window.
RECENT: Final = "5m"
#: How long a gap between scrapes may be that does not make a counter new.
_GAP: Final = "15m"
#: Serve's deployments are named Prefill:MODEL and Decode:MODEL (Ray 2.58.0 llm/_internal/serve/core/server/builder.py).
_DEPLOYMENTS: Final = {"prefill": "Prefill:.*", "decode": "Decode:.*"}


@dataclass(frozen=True, slots=True)
class Scope:
    """The series of one deployment.

    Attributes:
        namespace: Its namespace.
        service: Its name.
    """

    namespace: str
    service: str

    def of(self, metric: str, matchers: str = "") -> str:
        """Return a selector of the deployment's series of a metric."""
        own = f'namespace="{self.namespace}",{SERVICE_LABEL}="{self.service}"'
        return f"{metric}{{{own},{matchers}}}" if matchers else f"{metric}{{{own}}}"

    def up(self, matchers: str = "") -> str:
        """Return a selector of what says whether Ray's pods answer, without the exporters of their nodes."""
        return self.of("up", ",".join(part for part in (f'{EXPORTER_LABEL}=""', matchers) if part))

    def counters(self, metric: str, window: str, matchers: str = "") -> str:
        """Return the rate of each series of a counter."""
        return f"rate({self.of(metric, matchers)}[{window}])"


def scope_of(plan: DeploymentPlan) -> Scope:
    """Return the scope of a deployment."""
    return Scope(plan.namespace, plan.name)


def total(expression: str, by: str = BY_PHASE) -> str:
    """Return the sum per phase, or per what is said."""
    return f"sum by ({by}) ({expression})"


def events(scope: Scope, metric: str, window: str, matchers: str = "") -> str:
    """Return how many events each series of a counter counted, its first included.

    A series is new that was not there before the window, although its pod was scraped more often in it than the series
    was seen: all that it counted is of the window. One that was there when its pod was first scraped may have counted
    at any time before, as where Prometheus begins beside a deployment that runs.
    """
    selector = scope.of(metric, matchers)
    before = f"last_over_time({selector}[{_GAP}] offset {window})"
    looks = f"max by ({_BY_POD}) (sum_over_time({scope.up()}[{window}]))"
    began = f"count_over_time({selector}[{window}]) < on ({_BY_POD}) group_left () {looks}"
    return f"({selector} unless {before} and {began}) or increase({selector}[{window}])"


def mean_of_gauge(scope: Scope, metric: str, window: str, matchers: str = "", by: str = BY_PHASE) -> str:
    """Return the mean of a gauge, summed over a phase's engines; where no sample was scraped, it was zero."""
    seen = total(f"sum_over_time({scope.of(metric, matchers)}[{window}])", by)
    return f"{seen} / on ({BY_PHASE}) group_left () {scrapes(scope, window)}"


def scrapes(scope: Scope, window: str) -> str:
    """Return how often a pod of each phase was scraped."""
    return f"max by ({BY_PHASE}) (count_over_time({scope.up()}[{window}]))"


def idle_is_zero(expression: str, scope: Scope) -> str:
    """Return an expression per phase that is zero for phases of which it says nothing and that are scraped."""
    engines = total(scope.up(f'{PHASE_LABEL}=~"prefill|decode"'))
    return f"{expression} or {engines} * 0"


def by_deployment(expression: str) -> str:
    """Return an expression whose phase is that of Serve's deployment, not that of the pod that says so."""
    for phase, pattern in _DEPLOYMENTS.items():
        expression = f'label_replace({expression}, "{PHASE_LABEL}", "{phase}", "deployment", "{pattern}")'
    return expression


def bucket(seconds: float) -> str:
    """Return the matcher of a histogram's bucket: older servers keep `1`, newer ones write `1.0`."""
    return f'le=~"{_escaped(seconds)}"'


def _escaped(seconds: float) -> str:
    text = repr(float(seconds))
    whole, _, decimals = text.partition(".")
    return f"{whole}(\\\\.0)?" if decimals == "0" else f"{whole}\\\\.{decimals}"


def number(value: float) -> str:
    """Return a number as PromQL reads it, without digits that only binary has."""
    return f"{value:.10g}"


def rule(record: str, expression: str, labels: Mapping[str, str] | None = None) -> dict[str, object]:
    """Return a recording rule."""
    return {"record": record, "expr": expression, **({"labels": dict(labels)} if labels else {})}
