"""Recording rules: what each phase does, under names that dashboards and alerts share.

A name says its level, what it is and how it came about. `phase` is `prefill` or `decode`, in a few also `head`.
docs/monitoring.md lists all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from constructs_pd.manifests.monitoring.promql import (
    BY_PHASE,
    BY_SERVICE,
    PHASE_LABEL,
    RECENT,
    SERVICE_LABEL,
    Scope,
    bucket,
    by_deployment,
    events,
    idle_is_zero,
    mean_of_gauge,
    number,
    rule,
    scope_of,
    total,
)
from constructs_pd.manifests.serve_config import APPLICATION_NAME
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import HandOverBudgetPlan, MonitoringPlan

QUANTILES: Final = ("0.5", "0.95", "0.99")
TTFT: Final = "ray_vllm_time_to_first_token_seconds"
ITL: Final = "ray_vllm_inter_token_latency_seconds"
TRANSFER: Final = "ray_vllm_nixl_xfer_time_seconds"
PROMPT: Final = "ray_vllm_prompt_tokens_by_source_total"
FROM_PREFILL: Final = 'source="external_kv_transfer"'
HTTP_REQUESTS: Final = "ray_serve_num_http_requests_total"
#: Without the probes of the kubelet and of balancers, which belong to no application, and 408, with which Serve ends a
#: request that takes too long. A stream that breaks off counts with the error, 499 is a client that left (Ray 2.58.0
#: serve/_private/proxy.py, proxy_request, and http_util.py, get_http_response_status).
OF_CLIENTS: Final = f'application="{APPLICATION_NAME}"'
OWN_ERRORS: Final = f'{OF_CLIENTS},status_code=~"5..|408"'
FAILURES: Final = {
    "transfer": "ray_vllm_nixl_num_failed_transfers_total",
    "notification": "ray_vllm_nixl_num_failed_notifications_total",
    "expired": "ray_vllm_nixl_num_kv_expired_reqs_total",
}
_BITS: Final = 8
_GIGA: Final = 1e9
#: For how long a replica counts as healthy that nobody says anything of: Serve says it every 10 s, and agents forget
#: it after 20 (Ray 2.58.0 serve/_private/constants.py, RAY_SERVE_STATUS_GAUGE_REPORT_INTERVAL_S).
_HEALTHY: Final = "2m"

Rule = dict[str, Any]


def recording_rules(plan: DeploymentPlan, monitoring: MonitoringPlan) -> dict[str, list[Rule]]:
    """Return the rules by the name of their group, without those of what was promised."""
    scope = scope_of(plan)
    return {
        "work": list(_work(scope, monitoring)),
        "latency": list(_latency(scope, plan, monitoring)),
        "hand-over": list(_hand_over(scope, plan, monitoring)),
        "endpoint": list(_endpoint(scope)),
    }


def _quantiles(record: str, scope: Scope, histogram: str, by: str = BY_PHASE) -> Iterator[Rule]:
    for quantile in QUANTILES:
        counted = total(scope.counters(f"{histogram}_bucket", RECENT), f"{by}, le")
        yield rule(record, f"histogram_quantile({quantile}, {counted})", {"quantile": quantile})


def _mean(scope: Scope, histogram: str) -> str:
    observed, count = (total(scope.counters(f"{histogram}_{part}", RECENT)) for part in ("sum", "count"))
    return f"{observed} / ({count} > 0)"


def _latency(scope: Scope, plan: DeploymentPlan, monitoring: MonitoringPlan) -> Iterator[Rule]:
    yield from _quantiles("phase:ttft_seconds:quantile5m", scope, TTFT)
    yield from _quantiles("phase:itl_seconds:quantile5m", scope, ITL)
    yield rule("phase:ttft_seconds:mean5m", _mean(scope, TTFT))
    yield rule("phase:requests_per_second:rate5m", total(scope.counters(f"{TTFT}_count", RECENT)))
    # Little's law: who waits on average, by the requests in a second. vLLM's own histogram of it begins at 0.3 s.
    queue = f'phase:requests_waiting:mean5m{{{_own(scope)},reason="capacity"}}'
    requests = f"(phase:requests_per_second:rate5m{{{_own(scope)}}} > 0)"
    waited = f"sum by ({BY_PHASE}) ({queue}) / {requests}"
    yield rule("phase:ttft_part_seconds:mean5m", waited, {"part": "queue"})
    mean, parts = f"phase:ttft_seconds:mean5m{{{_own(scope)}", f"phase:ttft_part_seconds:mean5m{{{_own(scope)}"
    yield rule(
        "phase:ttft_part_seconds:mean5m",
        f'clamp_min({mean},phase="prefill"}} - on ({BY_PHASE}) {parts},phase="prefill",part="queue"}}, 0)',
        {"part": "prefill"},
    )
    # The transfers of a request are posted at once.
    transfers = total(scope.counters(f"{TRANSFER}_sum", RECENT))
    yield rule(
        "phase:ttft_part_seconds:mean5m",
        f"{transfers} / {_transfers_of_request(plan, monitoring)} / {requests}",
        {"part": "transfer"},
    )
    yield rule(
        "phase:ttft_part_seconds:mean5m",
        f'clamp_min({mean},phase="decode"}} - on ({BY_PHASE}) {parts},phase="decode",part="queue"}}'
        f' - on ({BY_PHASE}) {parts},phase="decode",part="transfer"}}, 0)',
        {"part": "first_step"},
    )


def _work(scope: Scope, monitoring: MonitoringPlan) -> Iterator[Rule]:
    yield rule("phase:prompt_tokens_per_second:rate5m", total(scope.counters(PROMPT, RECENT), f"{BY_PHASE}, source"))
    yield rule(
        "phase:generation_tokens_per_second:rate5m",
        total(scope.counters("ray_vllm_generation_tokens_total", RECENT)),
    )
    running = mean_of_gauge(scope, "ray_vllm_num_requests_running", RECENT)
    yield rule("phase:requests_running:mean5m", idle_is_zero(running, scope))
    for reason in ("capacity", "deferred"):
        waiting = mean_of_gauge(scope, "ray_vllm_num_requests_waiting_by_reason", RECENT, f'reason="{reason}"')
        yield rule("phase:requests_waiting:mean5m", idle_is_zero(waiting, scope), {"reason": reason})
    routed = by_deployment(f"sum_over_time({scope.of('ray_serve_deployment_queued_queries', _ENGINES)}[{RECENT}])")
    looks = f"scalar(max(count_over_time({scope.up()}[{RECENT}])))"
    yield rule("phase:requests_waiting:mean5m", idle_is_zero(f"{total(routed)} / {looks}", scope), {"reason": "router"})
    queued = f'phase:requests_waiting:mean5m{{{_own(scope)},reason=~"capacity|router"}}'
    for phase in ("prefill", "decode"):
        of_phase = queued.replace("{", f'{{phase="{phase}",', 1)
        waiting = f"{total(of_phase)} / {_replicas(monitoring, phase)}"
        yield rule("phase:queue_per_replica:mean5m", waiting, {PHASE_LABEL: phase})
    usage = scope.of("ray_vllm_kv_cache_usage_perc")
    yield rule(
        "phase:kv_cache_usage:max5m", idle_is_zero(f"max by ({BY_PHASE}) (max_over_time({usage}[{RECENT}]))", scope)
    )
    yield rule(
        "phase:preemptions:increase5m",
        idle_is_zero(total(events(scope, "ray_vllm_num_preemptions_total", RECENT)), scope),
    )
    asked = total(scope.counters("ray_vllm_prefix_cache_queries_total", RECENT))
    found = total(scope.counters("ray_vllm_prefix_cache_hits_total", RECENT))
    yield rule("phase:prefix_cache_hits:ratio5m", f"({found} or {asked} * 0) / ({asked} > 0)")
    yield rule("phase:replicas_healthy:count", _healthy(scope))
    yield rule("phase:pods_scraped:count", total(scope.up()))


_ENGINES: Final = 'deployment=~"(Prefill|Decode):.*"'


def _healthy(scope: Scope) -> str:
    replica = f"{BY_SERVICE}, deployment, replica"
    said = (
        f"max by ({replica}) (max_over_time({scope.of('ray_serve_deployment_replica_healthy', _ENGINES)}[{_HEALTHY}]))"
    )
    return total(by_deployment(said))


def _replicas(monitoring: MonitoringPlan, phase: str) -> int:
    return monitoring.replicas["prefill" if phase == "prefill" else "decode"]


def _hand_over(scope: Scope, plan: DeploymentPlan, monitoring: MonitoringPlan) -> Iterator[Rule]:
    budget = monitoring.hand_over
    yield from _quantiles("phase:hand_over_seconds:quantile5m", scope, TRANSFER)
    count = total(scope.counters(f"{TRANSFER}_count", RECENT))
    yield rule("phase:hand_overs_per_second:rate5m", f"{count} / {_transfers_of_request(plan, monitoring)}")
    yield rule("phase:hand_over_bytes_per_second:rate5m", _bytes(scope, budget))
    if budget is not None:
        moved = f"phase:hand_over_bytes_per_second:rate5m{{{_own(scope)}}}"
        gbps = f"{moved} * {_BITS} / {number(_GIGA)}"
        yield rule("phase:hand_over_link:ratio5m", f"{gbps} / {number(budget.capacity_gbps)}")
    if budget is not None and budget.slow_seconds is not None:
        quick = total(scope.counters(f"{TRANSFER}_bucket", RECENT, bucket(budget.slow_seconds)))
        yield rule("phase:hand_over_slow:ratio5m", f"1 - {quick} / ({count} > 0)")
    # Counted by each GPU of an engine, and added up (vLLM 0.26.0 nixl/base_worker.py, kv_connector/utils.py).
    for kind, metric in FAILURES.items():
        failed = total(events(scope, metric, RECENT))
        yield rule("phase:hand_over_failures:increase5m", idle_is_zero(failed, scope), {"kind": kind})
    decode = f'{PHASE_LABEL}="decode"'
    computed = total(scope.counters(PROMPT, RECENT, f'{decode},source="local_compute"'))
    whole = total(scope.counters(PROMPT, RECENT, decode))
    yield rule("phase:recomputed_prompt:ratio5m", f"({computed} or {whole} * 0) / ({whole} > 0)")


def _transfers_of_request(plan: DeploymentPlan, monitoring: MonitoringPlan) -> int:
    return plan.decode.tensor_parallel * monitoring.reads_of_gpu


def _bytes(scope: Scope, budget: HandOverBudgetPlan | None) -> str:
    """Return the bytes in a second: of the tokens that came where their size is known, else of NIXL's histogram.

    That one's boundaries are four times apart, and its sum is made of the middles between them.
    """
    if budget is None:
        return total(scope.counters("ray_vllm_nixl_bytes_transferred_sum", RECENT))
    tokens = total(scope.counters(PROMPT, RECENT, FROM_PREFILL))
    if not budget.bytes_per_request:
        return f"{tokens} * {number(budget.bytes_per_token)}"
    requests = f"phase:hand_overs_per_second:rate5m{{{_own(scope)}}}"
    return (
        f"{tokens} * {number(budget.bytes_per_token)} + on ({BY_PHASE}) {requests} * {number(budget.bytes_per_request)}"
    )


def _endpoint(scope: Scope) -> Iterator[Rule]:
    by_code = f"{BY_SERVICE}, status_code"
    yield rule("endpoint:requests_per_second:rate5m", total(scope.counters(HTTP_REQUESTS, RECENT, OF_CLIENTS), by_code))
    milliseconds = "ray_serve_http_request_latency_ms"
    for quantile in QUANTILES:
        counted = total(scope.counters(f"{milliseconds}_bucket", RECENT, OF_CLIENTS), f"{BY_SERVICE}, le")
        yield rule(
            "endpoint:request_seconds:quantile5m",
            f"histogram_quantile({quantile}, {counted}) / 1000",
            {"quantile": quantile},
        )
    yield rule("endpoint:errors:ratio_rate5m", error_share(scope, RECENT))


def error_share(scope: Scope, window: str) -> str:
    """Return the share of requests that the endpoint answered with an error of its own.

    Each proxy has a counter for each status, and its first error is one too.
    """
    failed = total(events(scope, HTTP_REQUESTS, window, OWN_ERRORS), BY_SERVICE)
    asked = total(events(scope, HTTP_REQUESTS, window, OF_CLIENTS), BY_SERVICE)
    return f"({failed} or {asked} * 0) / ({asked} > 0)"


def _own(scope: Scope) -> str:
    return f'namespace="{scope.namespace}",{SERVICE_LABEL}="{scope.service}"'
