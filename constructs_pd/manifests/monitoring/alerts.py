"""Alerts: what somebody must do something about, each with a page that says what.

Severity `critical` is for whoever is on call, `warning` for the next working day.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from constructs_pd.manifests.monitoring.burn_rates import BURN_RATES, LEAST_REQUESTS, burn_expressions, counted
from constructs_pd.manifests.monitoring.promql import (
    BY_PHASE,
    BY_SERVICE,
    PHASE_LABEL,
    RECENT,
    SERVICE_LABEL,
    events,
    number,
    scope_of,
    total,
)
from constructs_pd.manifests.monitoring.recording_rules import (
    FAILURES,
    HTTP_REQUESTS,
    OF_CLIENTS,
    TRANSFER,
    TTFT,
    Rule,
)
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import HandOverBudgetPlan, MonitoringPlan, SloPlan

#: The share of an engine's transfers that may fail before it is a matter of minutes.
FAILING_SHARE: Final = 0.05
#: The share of transfers that may be slower than the plan reckons.
SLOW_SHARE: Final = 0.1
#: The share of the reckoned links above which transfers wait for each other: at 80 % one takes five times as long
#: (docs/hand_over.md, processor sharing).
LINK_SHARE: Final = 0.8
#: The share of prompts that decode may compute itself.
RECOMPUTED_SHARE: Final = 0.1
#: vLLM preempts requests when the KV cache is full.
KV_CACHE_SHARE: Final = 0.95
#: Requests that wait for each replica, above which a phase is what the others wait for.
WAITING: Final = 1
#: How many times more of them wait than for the other phase.
SKEW: Final = 3


class _Alerts:
    """The alerts of one deployment."""

    def __init__(self, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
        self._plan, self._monitoring, self._scope = plan, monitoring, scope_of(plan)
        self._own = f'namespace="{plan.namespace}",{SERVICE_LABEL}="{plan.name}"'

    def all(self) -> dict[str, list[Rule]]:
        """Return them by the name of their group."""
        monitoring = self._monitoring
        groups = {"hand-over": [*self._hand_over()], "load": [*self._load()], "parts": [*self._parts()]}
        if monitoring.slo is not None:
            groups["slo"] = [*self._slo(monitoring.slo)]
        if monitoring.gpu_namespace is not None:
            groups["gpus"] = [*self._gpus()]
        return groups

    def _slo(self, slo: SloPlan) -> Iterator[Rule]:
        if slo.ttft:
            parts = " and ".join(f"{number(part.seconds)} s in {part.phase}" for part in slo.ttft)
            # Who breaks the whole breaks a part: together the parts' shares are no less, and the allowance is one.
            yield from self._burning(
                "TimeToFirstTokenBudgetBurns",
                f"phase:ttft_slow:ratio_rate{{{self._own}}}",
                1 - slo.ttft[0].share,
                counted(self._scope.of(f"{TTFT}_count"), BY_PHASE),
                "{{ $labels.ray_service }} takes longer to the first token than promised",
                f"{{{{ $value | humanizePercentage }}}} of requests, of both phases together, took longer than their "
                f"part of the promised {number(slo.ttft_seconds or 0)} s: {parts}, for 95 of 100. "
                "phase:ttft_slow:ratio_rate5m says which phase does.",
                by=BY_SERVICE,
            )
        if slo.itl is not None:
            yield from self._burning(
                "InterTokenLatencyBudgetBurns",
                f"phase:itl_slow:ratio_rate{{{self._own}}}",
                1 - slo.itl.share,
                # Requests, as one of them has many tokens.
                counted(self._scope.of(f"{TTFT}_count", f'{PHASE_LABEL}="decode"'), BY_PHASE),
                "{{ $labels.phase }} of {{ $labels.ray_service }} makes tokens slower than promised",
                f"{{{{ $value | humanizePercentage }}}} of tokens came later after the one before than the promised "
                f"{number(slo.itl.seconds)} s, for 95 of 100.",
            )
        if slo.availability is not None:
            yield from self._burning(
                "EndpointErrorBudgetBurns",
                f"endpoint:errors:ratio_rate{{{self._own}}}",
                1 - slo.availability,
                counted(self._scope.of(HTTP_REQUESTS, OF_CLIENTS), BY_SERVICE),
                "{{ $labels.ray_service }} fails more requests than promised",
                f"{{{{ $value | humanizePercentage }}}} of requests ended with an error of the endpoint's own; "
                f"{number(slo.availability)} were promised to end without.",
            )

    def _burning(
        self,
        name: str,
        record: str,
        allowed: float,
        number_of: str,
        summary: str,
        description: str,
        *,
        by: str = "",
    ) -> Iterator[Rule]:
        for severity, expression in burn_expressions(record, allowed, number_of, by):
            windows = " or ".join(
                f"{rate.long} at {number(rate.factor)}x" for rate in BURN_RATES if rate.severity == severity
            )
            yield self._alert(
                name,
                expression,
                severity,
                summary,
                f"{description} This uses the allowance of 30 days up early: {windows} of what it allows.",
                wait=None,
            )

    def _hand_over(self) -> Iterator[Rule]:
        def failures(kinds: str) -> str:
            return total(f"phase:hand_over_failures:increase5m{{{self._own},{kinds}}}", BY_SERVICE)

        unnoticed = self._monitoring.answers_failed_transfers
        yield self._alert(
            "HandOverFails",
            f"""{failures('kind=~"transfer|notification"')} > 0""",
            "warning",
            "KV caches of {{ $labels.ray_service }} do not arrive",
            "{{ $value | humanize }} transfers or notifications of NIXL failed in the last 5 minutes, counted by each "
            "GPU of an engine. With any of its transfers a request "
            + ("may be answered all the same, and wrong (known defect vllm-52234)." if unnoticed else "fails."),
            wait=None,
        )
        yield self._any_transfer_fails() if unnoticed else self._many_transfers_fail()
        expired = f'phase:hand_over_failures:increase5m{{{self._own},kind="expired"}}'
        yield self._alert(
            "HandOverExpires",
            f"{expired} > 0",
            "warning",
            "{{ $labels.phase }} of {{ $labels.ray_service }} gave KV caches up that nobody fetched",
            "KV caches were given up {{ $value | humanize }} times in the last 5 minutes, counted by each GPU of an "
            "engine, because decode had not fetched them in time. They held memory of prefill until then.",
            wait=None,
        )
        recomputed = f"phase:recomputed_prompt:ratio5m{{{self._own}}}"
        yield self._alert(
            "HandOverBypassed",
            f"{recomputed} > {RECOMPUTED_SHARE}",
            "warning",
            "decode of {{ $labels.ray_service }} computes prompts itself",
            "{{ $value | humanizePercentage }} of prompt tokens were computed by decode, which then slows the tokens "
            "of every other request. Prefill's work for them is lost.",
            wait="10m",
        )
        if self._monitoring.hand_over is not None:
            yield from self._hand_over_budget(self._monitoring.hand_over)

    def _any_transfer_fails(self) -> Rule:
        failed = events(self._scope, FAILURES["transfer"], RECENT)
        return self._alert(
            "HandOverFails",
            f"{total(failed, _BY_ENGINE)} > 0",
            "critical",
            "answers of {{ $labels.pod }} of {{ $labels.ray_service }} may be wrong",
            "{{ $value | humanize }} transfers failed in the last 5 minutes. vLLM answers their requests with 200 all "
            "the same, from a KV cache that was not filled (known defect vllm-52234), counts no error, and may keep "
            "that cache for later requests: delete this pod, also when the alert has ended.",
            wait=None,
        )

    def _many_transfers_fail(self) -> Rule:
        # Of each engine alone, or its failures are lost among the transfers of those that are well. A notification
        # that fails leaves the request well. `increase` does not see the first failure: this is about those that go on.
        failed, moved = (
            total(f"increase({self._scope.of(metric)}[{RECENT}])", _BY_ENGINE)
            for metric in (FAILURES["transfer"], f"{TRANSFER}_count")
        )
        # A failed handshake counts once for each of decode's GPUs, however many reads it would have made.
        reads = self._monitoring.reads_of_gpu
        well, at_most = (moved, "") if reads == 1 else (f"{moved} / {reads}", "At most ")
        all_of_them = f"({failed} + ({well} or {failed} * 0))"
        return self._alert(
            "HandOverFails",
            f"{failed} / {all_of_them} > {FAILING_SHARE} and "
            f"{all_of_them} >= {LEAST_REQUESTS * self._plan.decode.tensor_parallel}",
            "critical",
            "many KV caches of {{ $labels.pod }} of {{ $labels.ray_service }} do not arrive",
            f"{at_most}{{{{ $value | humanizePercentage }}}} of the hand-overs to this engine failed in the last 5 "
            "minutes, counted by each of its GPUs. With any of them a request fails.",
            wait="2m",
        )

    def _hand_over_budget(self, budget: HandOverBudgetPlan) -> Iterator[Rule]:
        if budget.slow_seconds is not None:
            yield self._alert(
                "HandOverSlow",
                f"phase:hand_over_slow:ratio5m{{{self._own}}} > {SLOW_SHARE}",
                "warning",
                "KV caches of {{ $labels.ray_service }} take longer than planned",
                f"{{{{ $value | humanizePercentage }}}} of transfers took more than {number(budget.slow_seconds)} s; "
                f"the plan reckons {budget.longest_seconds:.3g} s for one of the longest context alone.",
                wait="10m",
            )
        yield self._alert(
            "HandOverLinkFull",
            f"phase:hand_over_link:ratio5m{{{self._own}}} > {LINK_SHARE}",
            "warning",
            "KV caches of {{ $labels.ray_service }} fill the links",
            f"{{{{ $value | humanizePercentage }}}} of the {number(budget.capacity_gbps)} Gbit/s that the plan reckons "
            "with are in use: transfers wait for each other.",
            wait="10m",
        )

    def _load(self) -> Iterator[Rule]:
        yield self._alert(
            "KvCacheFull",
            f"phase:kv_cache_usage:max5m{{{self._own}}} > {KV_CACHE_SHARE}",
            "warning",
            "the KV cache of {{ $labels.phase }} of {{ $labels.ray_service }} is full",
            "An engine of {{ $labels.phase }} used {{ $value | humanizePercentage }} of its KV cache. Requests wait or "
            "are preempted until others end.",
            wait="10m",
        )
        yield self._alert(
            "RequestsPreempted",
            f"phase:preemptions:increase5m{{{self._own}}} > 0",
            "warning",
            "{{ $labels.phase }} of {{ $labels.ray_service }} preempts requests",
            "{{ $value | humanize }} requests lost their KV cache in the last 5 minutes to make room, and are computed "
            "again: their clients see a pause.",
            wait="5m",
        )
        queue = "phase:queue_per_replica:mean5m"
        for phase, other in (("prefill", "decode"), ("decode", "prefill")):
            own, others = (f'{queue}{{{self._own},phase="{name}"}}' for name in (phase, other))
            yield self._alert(
                "PhaseOverloaded",
                f"{own} > {WAITING} and on ({BY_SERVICE}) {own} > ignoring ({PHASE_LABEL}) {SKEW} * {others}",
                "warning",
                f"{phase} of {{{{ $labels.ray_service }}}} is what requests wait for",
                f"{{{{ $value | humanize }}}} requests wait for each replica of {phase}, more than {SKEW} times as "
                f"many as for {other}. Scale {phase}, not {other}.",
                wait="10m",
                phase=phase,
            )

    def _parts(self) -> Iterator[Rule]:
        for name in ("prefill", "decode"):
            replicas = self._monitoring.replicas["prefill" if name == "prefill" else "decode"]
            healthy = f'(phase:replicas_healthy:count{{{self._own},phase="{name}"}} or on () vector(0))'
            yield self._alert(
                "ReplicasMissing",
                f"{healthy} < {replicas}",
                "warning",
                f"replicas of {name} of {self._plan.name} are missing",
                f"{{{{ $value }}}} of {replicas} replicas of {name} are healthy.",
                wait="10m",
                phase=name,
            )
            yield self._alert(
                "PhaseDown",
                f"{healthy} == 0",
                "critical",
                f"no replica of {name} of {self._plan.name} is healthy",
                f"0 of {replicas} replicas of {name} are healthy: no request is answered.",
                wait="5m",
                phase=name,
            )
            measured = f'sum by ({BY_PHASE}) (phase:pods_scraped:count{{{self._own},phase="{name}"}}) > 0'
            seen = self._scope.of(f"{TTFT}_count", f'{PHASE_LABEL}="{name}"')
            asked = f"sum by ({BY_SERVICE}) (increase({self._scope.of(HTTP_REQUESTS, _ANSWERED)}[15m])) > 0"
            yield self._alert(
                "EngineNotMeasured",
                f"({measured}) unless on ({BY_PHASE}) {seen} and on ({BY_SERVICE}) ({asked})",
                "warning",
                f"the engines of {name} of {{{{ $labels.ray_service }}}} export no metrics",
                "The endpoint answers, its pods are scraped, and vLLM's metrics are not there: rules and dashboards "
                "are blind. Another image may export other names.",
                wait="15m",
                phase=name,
            )
        for part, count in self._monitoring.replicas.items():
            scraped = f'(phase:pods_scraped:count{{{self._own},phase="{part}"}} or on () vector(0))'
            yield self._alert(
                "PodsMissing",
                f"{scraped} < {count}",
                "critical" if part == "head" else "warning",
                f"pods of {part} of {self._plan.name} do not answer",
                f"{{{{ $value }}}} of {count} pods of {part} answer Prometheus. A lost node takes its pod along.",
                wait="10m",
                phase=part,
            )
        ready = f'kuberay_service_condition_ready{{namespace="{self._plan.namespace}",name="{self._plan.name}"'
        # It is there twice where the monitor of another deployment keeps it too, whose name this one's begins with.
        yield self._alert(
            "RayServiceNotReady",
            f'max by (namespace, name) ({ready},condition="false"}}) == 1',
            "critical",
            f"{self._plan.name} is not ready",
            "KubeRay says that the RayService is not ready: no request reaches it.",
            wait="15m",
        )
        yield self._alert(
            "OperatorNotMeasured",
            f"absent({ready}}})",
            "warning",
            f"KubeRay says nothing of {self._plan.name}",
            "The operator is not scraped, or does not run: a lost pod would not be replaced.",
            wait="15m",
        )

    def _gpus(self) -> Iterator[Rule]:
        gpu = f"{BY_PHASE}, gpu, UUID, pod"
        yield self._alert(
            "GpuFault",
            f"max by ({gpu}) (max_over_time({self._scope.of('DCGM_FI_DEV_XID_ERRORS')}[{RECENT}])) > 0",
            "warning",
            "a GPU of {{ $labels.phase }} of {{ $labels.ray_service }} reported an error",
            "GPU {{ $labels.gpu }} ({{ $labels.UUID }}) reported XID {{ $value }}.",
            wait=None,
        )
        yield self._alert(
            "GpuMemoryFailed",
            f"max by ({gpu}) ({self._scope.of('DCGM_FI_DEV_ROW_REMAP_FAILURE')}) > 0",
            "critical",
            "memory of a GPU of {{ $labels.phase }} of {{ $labels.ray_service }} cannot be repaired",
            "GPU {{ $labels.gpu }} ({{ $labels.UUID }}) could not remap a row of its memory: replace the node.",
            wait=None,
        )

    def _alert(
        self,
        name: str,
        expression: str,
        severity: str,
        summary: str,
        description: str,
        *,
        wait: str | None,
        phase: str | None = None,
    ) -> dict[str, Any]:
        # What an expression without series leaves out stands in the rule.
        own = {"namespace": self._plan.namespace, SERVICE_LABEL: self._plan.name}
        labels = {"severity": severity, **own, **({PHASE_LABEL: phase} if phase else {})}
        return {
            "alert": name,
            "expr": expression,
            **({"for": wait} if wait else {}),
            "labels": labels,
            "annotations": {
                "summary": summary,
                "description": description,
                "runbook_url": f"{self._monitoring.runbooks}/{name}.md",
            },
        }


#: An engine has its pod for itself.
_BY_ENGINE: Final = f"{BY_PHASE}, pod"
#: Answers to clients that an engine made.
_ANSWERED: Final = f'{OF_CLIENTS},status_code="200",method="POST"'


def alerts(plan: DeploymentPlan, monitoring: MonitoringPlan) -> dict[str, list[Rule]]:
    """Return the alerts of a deployment by the name of their group."""
    return _Alerts(plan, monitoring).all()
