"""Synthetic series of a deployment in which all is well, and for each alert what makes it fire and what must not.

Values are in promtool's notation: `0+60x130` begins at 0 and grows by 60 for 130 minutes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

MINUTES: Final = 130
#: When alerts are looked at that read no window of hours.
SOON: Final = 40
Series = dict[str, str]

_OWN: Final = 'namespace="inference",ray_service="qwen35-9b"'
_POD: Final = {phase: f'{_OWN},phase="{phase}",pod="{phase}-0"' for phase in ("head", "prefill", "decode")}
_ENGINE: Final = {phase: f'{labels},ReplicaId="{phase}",WorkerId="1"' for phase, labels in _POD.items()}
_GPU: Final = {phase: f'{labels},gpu="0",UUID="GPU-{phase}"' for phase, labels in _POD.items()}
_ROUTER: Final = f'{_POD["decode"]},application="llm",handle="1"'
_HTTP: Final = f'{_POD["head"]},method="POST"'


def series(metric: str, labels: str, more: str = "") -> str:
    """Return the notation of a series."""
    return f"{metric}{{{labels},{more}}}" if more else f"{metric}{{{labels}}}"


def growing(each_minute: float, begin: float = 0, minutes: int = MINUTES) -> str:
    """Return a counter that grows evenly."""
    return f"{begin:g}+{each_minute:g}x{minutes}"


def steady(value: float) -> str:
    """Return a gauge that stays."""
    return growing(0, value)


def ttft(phase: str, le: str) -> str:
    """Return the series of a bucket of the time to the first token."""
    return series("ray_vllm_time_to_first_token_seconds_bucket", _ENGINE[phase], f'le="{le}"')


def itl(le: str) -> str:
    """Return the series of a bucket of the time between tokens."""
    return series("ray_vllm_inter_token_latency_seconds_bucket", _ENGINE["decode"], f'le="{le}"')


def transfers(le: str) -> str:
    """Return the series of a bucket of NIXL's transfer times."""
    return series("ray_vllm_nixl_xfer_time_seconds_bucket", _ENGINE["decode"], f'le="{le}"')


def prompts(phase: str, source: str) -> str:
    """Return the series of tokens of prompts."""
    return series("ray_vllm_prompt_tokens_by_source_total", _ENGINE[phase], f'source="{source}"')


def engine(phase: str, metric: str) -> str:
    """Return the series of an engine's metric."""
    return series(f"ray_vllm_{metric}", _ENGINE[phase])


def waiting(phase: str, reason: str) -> str:
    """Return the series of requests that wait in an engine."""
    return series("ray_vllm_num_requests_waiting_by_reason", _ENGINE[phase], f'reason="{reason}"')


def routed(deployment: str) -> str:
    """Return the series of requests that wait in Serve's router."""
    return series("ray_serve_deployment_queued_queries", _ROUTER, f'deployment="{deployment}"')


def healthy(deployment: str) -> str:
    """Return the series of a replica that is well."""
    return series(
        "ray_serve_deployment_replica_healthy", _POD["head"], f'deployment="{deployment}",replica="{deployment}"'
    )


def http(status_code: str, application: str = "llm") -> str:
    """Return the series of answers at Serve's proxies."""
    return series(
        "ray_serve_num_http_requests_total", _HTTP, f'application="{application}",status_code="{status_code}"'
    )


def up(part: str) -> str:
    """Return the series that says whether a pod answers Prometheus."""
    return series("up", _POD[part])


def exporter_up(exporter: str, phase: str) -> str:
    """Return the series that says whether an exporter on a node of a phase answers Prometheus."""
    return series("up", f'{_OWN},phase="{phase}",pod="{exporter}-0"', f'exporter="{exporter}"')


def ready(condition: str, more: str = "") -> str:
    """Return the series in which KubeRay says whether a RayService is ready."""
    own = 'namespace="inference",name="qwen35-9b",uid="1"'
    return series("kuberay_service_condition_ready", f'{own},condition="{condition}"', more)


def gpu(metric: str, phase: str = "decode") -> str:
    """Return the series of a GPU's metric."""
    return series(metric, _GPU[phase])


PREFILL, DECODE, INGRESS = "Prefill:qwen3_5-9b", "Decode:qwen3_5-9b", "OpenAiIngress"
TTFT_BOUNDARIES: Final = ("0.25", "1.0", "2.5", "+Inf")


def well() -> Series:
    """Return a deployment in which all is well: a request a second, of 100 tokens each."""
    found = {up(part): steady(1) for part in _POD}
    # The exporters on their nodes: more targets of a phase than it has pods.
    found |= {exporter_up(name, phase): steady(1) for name in ("dcgm", "efa") for phase in ("prefill", "decode")}
    for phase in ("prefill", "decode"):
        found |= {ttft(phase, le): growing(60) for le in TTFT_BOUNDARIES}
        found[engine(phase, "time_to_first_token_seconds_count")] = growing(60)
        found[engine(phase, "time_to_first_token_seconds_sum")] = growing(12)
        found[engine(phase, "num_requests_running")] = steady(2)
        found[engine(phase, "kv_cache_usage_perc")] = steady(0.5)
        found[engine(phase, "prefix_cache_queries_total")] = growing(6000)
        found[engine(phase, "generation_tokens_total")] = growing(60 if phase == "prefill" else 6000)
        found |= {waiting(phase, reason): steady(0) for reason in ("capacity", "deferred")}
        found[gpu("DCGM_FI_DEV_XID_ERRORS", phase)] = steady(0)
        found[gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE", phase)] = steady(0)
    found |= {itl(le): growing(6000) for le in ("0.05", "0.075", "+Inf")}
    found[engine("decode", "inter_token_latency_seconds_count")] = growing(6000)
    found |= {transfers(le): growing(60) for le in ("0.2", "+Inf")}
    found[engine("decode", "nixl_xfer_time_seconds_count")] = growing(60)
    found[engine("decode", "nixl_xfer_time_seconds_sum")] = growing(3)
    found[prompts("prefill", "local_compute")] = growing(6000)
    found[prompts("decode", "external_kv_transfer")] = growing(6000)
    found |= {routed(deployment): steady(0) for deployment in (PREFILL, DECODE, INGRESS)}
    found |= {healthy(deployment): steady(1) for deployment in (PREFILL, DECODE, INGRESS)}
    # Ten times as many probes as requests, which say nothing of the service.
    found |= {http("200"): growing(60), http("200", ""): growing(600)}
    found[ready("true")] = steady(1)
    return found


@dataclass(frozen=True)
class Case:
    """What happens to a deployment in which all is well.

    Attributes:
        alert: The alert that it is about.
        what: What happens, in a few words.
        changes: Series with other values; none: the series is not there.
        fires: Of the alert, the severities and phases that fire at the end, a dash for no phase. Empty: it is quiet.
        is_plain: Whether its model's layers all keep the same kind of cache.
    """

    alert: str
    what: str
    changes: Mapping[str, str | None] = field(default_factory=dict)
    fires: frozenset[str] = frozenset()
    is_plain: bool = False

    @property
    def end(self) -> int:
        """The minute at which it is looked at."""
        return MINUTES if self.alert.endswith("BudgetBurns") else SOON

    @property
    def name(self) -> str:
        """What the test is called."""
        return f"{self.alert}: {self.what}"

    def input(self) -> Series:
        """Return all series."""
        changed = {**well(), **self.changes}
        return {name: values for name, values in changed.items() if values is not None}


def _slow(phase: str, share: float, minutes: int = MINUTES) -> dict[str, str | None]:
    """Return the time to the first token where a share is slower than anything promised."""
    quick = 60 * (1 - share)
    rest = f" {quick * minutes:g}+60x{MINUTES - minutes}" if minutes < MINUTES else ""
    return {ttft(phase, le): f"0+{quick:g}x{minutes}{rest}" for le in TTFT_BOUNDARIES if le != "+Inf"}


def _few_slow() -> dict[str, str | None]:
    few = {ttft("prefill", le): steady(0) for le in TTFT_BOUNDARIES if le != "+Inf"}
    count = "0+0x120 1+1x7"
    return {**few, ttft("prefill", "+Inf"): count, engine("prefill", "time_to_first_token_seconds_count"): count}


def _few_late() -> dict[str, str | None]:
    tokens, requests = "0+0x120 100+100x7", "0+0x120 1+1x7"
    late = {itl("0.05"): steady(0), itl("0.075"): steady(0), itl("+Inf"): tokens}
    counts = {engine("decode", "inter_token_latency_seconds_count"): tokens}
    return {**late, **counts, engine("decode", "time_to_first_token_seconds_count"): requests}


def _itl(share: float) -> dict[str, str | None]:
    quick = 6000 * (1 - share)
    return {itl("0.05"): growing(quick), itl("0.075"): growing(quick)}


def _errors(each_minute: float, code: str = "500") -> dict[str, str | None]:
    return {http(code): growing(each_minute)}


def _both(severity_phase: str, *more: str) -> frozenset[str]:
    return frozenset({severity_phase, *more})


_FAILED: Final = engine("decode", "nixl_num_failed_transfers_total")
NO_TRANSFERS: Final = {engine("decode", f"nixl_xfer_time_seconds_{part}"): steady(0) for part in ("count", "sum")} | {
    transfers(le): steady(0) for le in ("0.2", "+Inf")
}
_NOTIFICATIONS: Final = engine("decode", "nixl_num_failed_notifications_total")
_EXPIRED: Final = engine("prefill", "nixl_num_kv_expired_reqs_total")
_PREEMPTED: Final = engine("decode", "num_preemptions_total")
#: Not there until two minutes before the end, then once, twice, three times.
_JUST_NOW: Final = f"_x{SOON - 3} 1 2 3 3+0x9"
_LONG_AGO: Final = "_x10 1 2 3 3+0x117"


def _begins(minute: int, counter: str, each_minute: float = 0) -> dict[str, str | None]:
    """Return what Prometheus sees that begins in a minute: a counter of 50 then, of whatever happened last week."""
    seen = {**well(), counter: growing(each_minute, 50)}
    return {name: f"_x{minute} {values}" for name, values in seen.items()}


CASES: Final = (
    # The promise of the time to the first token.
    Case(
        "TimeToFirstTokenBudgetBurns",
        "every prompt is slow in prefill",
        _slow("prefill", 1),
        _both("critical -", "warning -"),
    ),
    Case(
        "TimeToFirstTokenBudgetBurns",
        "one in five waits too long in decode",
        _slow("decode", 0.2),
        _both("warning -"),
    ),
    Case(
        "TimeToFirstTokenBudgetBurns",
        "one in three waits too long in decode",
        _slow("decode", 0.33),
        _both("critical -", "warning -"),
    ),
    Case(
        "TimeToFirstTokenBudgetBurns",
        "four in a hundred are slow in prefill, and four others in decode",
        {**_slow("prefill", 0.04), **_slow("decode", 0.04)},
        _both("warning -"),
    ),
    Case(
        "TimeToFirstTokenBudgetBurns",
        "two in a hundred are slow in each phase",
        {**_slow("prefill", 0.02), **_slow("decode", 0.02)},
    ),
    Case("TimeToFirstTokenBudgetBurns", "four in a hundred are slow, as was promised", _slow("prefill", 0.04)),
    Case(
        "TimeToFirstTokenBudgetBurns",
        "all were slow, and no longer are",
        _slow("prefill", 1, 60),
        _both("warning -"),
    ),
    Case("TimeToFirstTokenBudgetBurns", "some were slow, and no longer are", _slow("prefill", 0.06, 60)),
    Case("TimeToFirstTokenBudgetBurns", "eight requests in an hour, all slow", _few_slow()),
    # Half of the way from 1 s to 2.5 s lies the promised 1.75 s: what is between them counts by half.
    Case(
        "TimeToFirstTokenBudgetBurns",
        "every prompt takes between 1 s and 2.5 s",
        {ttft("prefill", "1.0"): steady(0), ttft("prefill", "0.25"): steady(0)},
        _both("critical -", "warning -"),
    ),
    # The promise of the time between tokens.
    Case(
        "InterTokenLatencyBudgetBurns",
        "half of the tokens are late",
        _itl(0.5),
        _both("critical decode", "warning decode"),
    ),
    Case("InterTokenLatencyBudgetBurns", "one token in five is late", _itl(0.2), _both("warning decode")),
    Case("InterTokenLatencyBudgetBurns", "four in a hundred are late, as was promised", _itl(0.04)),
    Case("InterTokenLatencyBudgetBurns", "eight requests in an hour, of a hundred late tokens each", _few_late()),
    # The promise of answers.
    Case("EndpointErrorBudgetBurns", "one request in thirty fails", _errors(2), _both("critical -", "warning -")),
    Case("EndpointErrorBudgetBurns", "five in a thousand take too long", _errors(0.3, "408"), _both("warning -")),
    Case(
        "EndpointErrorBudgetBurns",
        "the first errors of a proxy, all at once",
        {http("500"): f"_x{MINUTES - 3} 100 100 100 100"},
        _both("critical -", "warning -"),
    ),
    Case(
        "EndpointErrorBudgetBurns",
        "Prometheus begins beside a deployment that failed last week",
        _begins(MINUTES - 20, http("500")),
    ),
    Case(
        "EndpointErrorBudgetBurns",
        "clients leave and ask for what is not there",
        {**_errors(9, "499"), **_errors(9, "404")},
    ),
    Case("EndpointErrorBudgetBurns", "one in two thousand fails, as was promised", _errors(0.03)),
    Case("EndpointErrorBudgetBurns", "probes fail", {http("503", ""): growing(600)}),
    # The hand-over.
    Case("HandOverFails", "the first transfers fail", {_FAILED: _JUST_NOW}, _both("warning -"), is_plain=True),
    Case(
        "HandOverFails",
        "the first transfers fail of a hybrid model, which is answered all the same",
        {_FAILED: _JUST_NOW},
        _both("critical decode", "warning -"),
    ),
    Case("HandOverFails", "the first notification fails", {_NOTIFICATIONS: _JUST_NOW}, _both("warning -")),
    Case(
        "HandOverFails",
        "one transfer in seven fails",
        {_FAILED: growing(10)},
        _both("critical decode", "warning -"),
        is_plain=True,
    ),
    Case(
        "HandOverFails",
        "one notification in seven fails, and no request",
        {_NOTIFICATIONS: growing(10)},
        _both("warning -"),
    ),
    Case(
        "HandOverFails",
        "three of three requests fail",
        {**NO_TRANSFERS, _FAILED: _JUST_NOW},
        _both("warning -"),
        is_plain=True,
    ),
    Case(
        "HandOverFails",
        "one of forty engines of decode cannot transfer at all",
        {
            engine("decode", "nixl_xfer_time_seconds_count"): growing(2400),
            _FAILED.replace("decode-0", "decode-1"): growing(60),
        },
        _both("critical decode", "warning -"),
        is_plain=True,
    ),
    Case("HandOverFails", "some failed long ago", {_FAILED: _LONG_AGO}),
    Case(
        "HandOverFails",
        "Prometheus missed a minute, and some failed long ago",
        {_FAILED: "_x10 1 2 3 3+0x20 _ _ 3+0x4"},
    ),
    Case("HandOverFails", "Prometheus begins beside a deployment that failed last week", _begins(SOON - 2, _FAILED)),
    Case(
        "HandOverFails",
        "it has begun, and the first transfer fails",
        {**_begins(SOON - 4, _FAILED), _FAILED: f"_x{SOON - 2} 1+0x9"},
        _both("critical decode", "warning -"),
    ),
    Case(
        "HandOverFails",
        "it has begun beside what failed last week, and another transfer fails",
        _begins(SOON - 4, _FAILED, 1),
        _both("critical decode", "warning -"),
    ),
    Case("HandOverExpires", "Prometheus begins beside one that did last week", _begins(SOON - 2, _EXPIRED)),
    Case("HandOverExpires", "decode fetches too late", {_EXPIRED: _JUST_NOW}, _both("warning prefill")),
    Case("HandOverExpires", "it did long ago", {_EXPIRED: _LONG_AGO}),
    Case(
        "HandOverBypassed",
        "decode computes one prompt in five",
        {prompts("decode", "local_compute"): growing(1500)},
        _both("warning decode"),
    ),
    Case("HandOverBypassed", "it computes one in twenty", {prompts("decode", "local_compute"): growing(300)}),
    Case("HandOverSlow", "half of the transfers are slow", {transfers("0.2"): growing(30)}, _both("warning decode")),
    Case("HandOverSlow", "one in twenty is slow", {transfers("0.2"): growing(57)}),
    Case(
        "HandOverLinkFull",
        "prompts are long",
        {prompts("decode", "external_kv_transfer"): growing(5_000_000)},
        _both("warning decode"),
    ),
    Case("HandOverLinkFull", "half of the links", {prompts("decode", "external_kv_transfer"): growing(2_000_000)}),
    # Load.
    Case(
        "KvCacheFull",
        "an engine of decode is full",
        {engine("decode", "kv_cache_usage_perc"): steady(0.99)},
        _both("warning decode"),
    ),
    Case("KvCacheFull", "it is nearly full", {engine("decode", "kv_cache_usage_perc"): steady(0.9)}),
    Case("KvCacheFull", "an engine rests, and says nothing", {engine("decode", "kv_cache_usage_perc"): None}),
    Case("RequestsPreempted", "one in a while", {_PREEMPTED: "_x20 1+1x29"}, _both("warning decode")),
    Case("RequestsPreempted", "Prometheus begins beside some of last week", _begins(SOON - 7, _PREEMPTED)),
    Case("RequestsPreempted", "some long ago", {_PREEMPTED: _LONG_AGO}),
    Case(
        "PhaseOverloaded",
        "requests wait for prefill in its engine",
        {waiting("prefill", "capacity"): steady(5)},
        _both("warning prefill"),
    ),
    Case(
        "PhaseOverloaded",
        "requests wait for prefill in the router, on decode's pod",
        {routed(PREFILL): steady(5)},
        _both("warning prefill"),
    ),
    Case(
        "PhaseOverloaded",
        "requests wait for decode",
        {waiting("decode", "capacity"): steady(5), waiting("prefill", "capacity"): steady(1)},
        _both("warning decode"),
    ),
    Case(
        "PhaseOverloaded",
        "they wait for both alike",
        {waiting("decode", "capacity"): steady(5), waiting("prefill", "capacity"): steady(4)},
    ),
    Case("PhaseOverloaded", "they wait for KV caches", {waiting("decode", "deferred"): steady(5)}),
    Case("PhaseOverloaded", "few wait", {waiting("prefill", "capacity"): steady(0.5)}),
    # Parts that are lost.
    Case("ReplicasMissing", "prefill's replica is not well", {healthy(PREFILL): steady(0)}, _both("warning prefill")),
    Case("ReplicasMissing", "nobody says anything of decode's", {healthy(DECODE): None}, _both("warning decode")),
    Case("ReplicasMissing", "Serve says it every other minute", {healthy(DECODE): "1 _ " * (MINUTES // 2) + "1"}),
    Case("PhaseDown", "prefill's one replica is not well", {healthy(PREFILL): steady(0)}, _both("critical prefill")),
    Case("PhaseDown", "an ingress is not well", {healthy(INGRESS): steady(0)}),
    Case("PodsMissing", "the head is lost", {up("head"): steady(0)}, _both("critical head")),
    Case("PodsMissing", "decode's pod is gone", {up("decode"): None}, _both("warning decode")),
    Case(
        "PodsMissing",
        "prefill's pod does not answer, the exporters on its node do",
        {up("prefill"): steady(0)},
        _both("warning prefill"),
    ),
    Case("PodsMissing", "an exporter does not answer", {exporter_up("dcgm", "decode"): steady(0)}),
    Case("PodsMissing", "a pod misses one look", {up("decode"): "1+0x30 0 1+0x18"}),
    Case(
        "EngineNotMeasured",
        "prefill's engine exports other names",
        {engine("prefill", "time_to_first_token_seconds_count"): None},
        _both("warning prefill"),
    ),
    Case(
        "EngineNotMeasured",
        "nobody asks yet",
        {
            engine("prefill", "time_to_first_token_seconds_count"): None,
            engine("decode", "time_to_first_token_seconds_count"): None,
            http("200"): None,
        },
    ),
    Case(
        "RayServiceNotReady",
        "KubeRay says so",
        {ready("true"): None, ready("false"): steady(1)},
        _both("critical -"),
    ),
    Case(
        "RayServiceNotReady",
        "KubeRay says so, and the monitor of a deployment named qwen35 keeps it too",
        {ready("true"): None, ready("false"): steady(1), ready("false", 'job="inference/qwen35-operator"'): steady(1)},
        _both("critical -"),
    ),
    Case("RayServiceNotReady", "it was not, for a while", {ready("false"): "1+0x20 _x109"}),
    Case("OperatorNotMeasured", "KubeRay says nothing", {ready("true"): None}, _both("warning -")),
    Case(
        "OperatorNotMeasured", "it says that the service is not ready", {ready("true"): None, ready("false"): steady(1)}
    ),
    Case("GpuFault", "a GPU reports XID 79", {gpu("DCGM_FI_DEV_XID_ERRORS"): steady(79)}, _both("warning decode")),
    Case("GpuFault", "one did, before an hour", {gpu("DCGM_FI_DEV_XID_ERRORS"): "79 79 79 _x1 0+0x36"}),
    Case(
        "GpuMemoryFailed",
        "a row cannot be remapped",
        {gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE"): steady(1)},
        _both("critical decode"),
    ),
    Case("GpuMemoryFailed", "the GPU's exporter is lost", {gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE"): None}),
    Case(
        "GpuMemoryFailed",
        "a row of another deployment's GPU cannot",
        {gpu("DCGM_FI_DEV_ROW_REMAP_FAILURE").replace("qwen35-9b", "other"): steady(1)},
    ),
)
