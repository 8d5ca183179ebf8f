"""Monitoring, decided: who is scraped, what every threshold is, and what was promised."""

from __future__ import annotations

from typing import Literal

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_monitoring import Scraping

PhaseOrHead = Literal["head", "prefill", "decode"]


class LatencyObjective(FrozenModel):
    """A time that a share of what is measured keeps to.

    Attributes:
        phase: The phase whose engines measure it.
        seconds: The time.
        below_seconds: The boundary of the histogram that is no longer; none below the first.
        above_seconds: The one that is no shorter: between the two the count is interpolated.
        share: The share that keeps to it, such as 0.95.
    """

    phase: Literal["prefill", "decode"]
    seconds: float
    below_seconds: float | None
    above_seconds: float
    share: float


class SloPlan(FrozenModel):
    """What was promised, over 30 days.

    Attributes:
        ttft_seconds: The time to the first token that was promised, or none. It is measured in two parts.
        ttft: Those parts: of prefill, and of decode after it. A request that breaks the promise breaks one of
            them, and what breaks either uses up the one allowance.
        itl: The time between two tokens, or none.
        availability: The share of requests that the endpoint answers without an error of its own, or none.
    """

    ttft_seconds: float | None
    ttft: tuple[LatencyObjective, ...]
    itl: LatencyObjective | None
    availability: float | None


class HandOverBudgetPlan(FrozenModel):
    """What the plan reckons of the hand-over, as its alerts count with it.

    Attributes:
        longest_seconds: Time of a request of the longest context alone.
        slow_seconds: The boundary of NIXL's histogram above which a transfer is slow: no shorter than twice that. None
            where all are shorter.
        bytes_per_request: Bytes of any request, whatever its length.
        bytes_per_token: Bytes of each further token of its prompt.
        capacity_gbps: What the phase with the narrower links, all its nodes together, is reckoned to move, in Gbit/s.
    """

    longest_seconds: float
    slow_seconds: float | None
    bytes_per_request: float
    bytes_per_token: float
    capacity_gbps: float


class DashboardsPlan(FrozenModel):
    """Grafana's dashboards.

    Attributes:
        labels: Labels by which Grafana's sidecar selects their ConfigMaps.
        annotations: The annotation that names their folder, or none.
    """

    labels: dict[str, str]
    annotations: dict[str, str]


class EfaExporterPlan(FrozenModel):
    """The exporter of EFA's counters that the cluster has.

    Attributes:
        namespace: Namespace of its pods.
        pod_labels: What selects them.
        port_name: Name of their port.
    """

    namespace: str
    pod_labels: dict[str, str]
    port_name: str


class MonitoringPlan(FrozenModel):
    """Scraping, rules and alerts.

    Attributes:
        scraping: PodMonitors of the Prometheus operator, or annotations of the pods.
        name_prefix: What the names of its objects begin with.
        labels: Labels of monitors and rules, by which the operator's Prometheus selects them.
        has_rules: Whether recording rules and alerts are written.
        runbooks: Where the pages of the alerts are found, a URL or a path, without a slash at its end.
        interval_seconds: Between two looks at a pod.
        metrics_port_name: Name of the pods' port.
        replicas: Pods of the head and of each phase.
        reads_of_gpu: NIXL's reads of each of decode's GPUs that move the KV cache of one request.
        answers_failed_transfers: Whether vLLM answers a request whose transfer failed as if it had not, or whether
            nobody knows what the model's layers keep.
        hand_over: What the plan reckons of the hand-over, or none where a fact is missing.
        slo: What was promised, or none.
        operator_namespace: Namespace of the KubeRay operator.
        gpu_namespace: Namespace of the DCGM exporter, or none without it.
        efa_exporter: The exporter of EFA's counters, or none.
        dashboards: Grafana's dashboards, or none.
    """

    scraping: Scraping
    name_prefix: str
    labels: dict[str, str]
    has_rules: bool
    runbooks: str
    interval_seconds: int
    metrics_port_name: str
    replicas: dict[PhaseOrHead, int]
    reads_of_gpu: int
    answers_failed_transfers: bool
    hand_over: HandOverBudgetPlan | None
    slo: SloPlan | None
    operator_namespace: str
    gpu_namespace: str | None
    efa_exporter: EfaExporterPlan | None
    dashboards: DashboardsPlan | None
