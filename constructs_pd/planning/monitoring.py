"""What is decided about monitoring: thresholds from the promise and from the plan's own numbers."""

from __future__ import annotations

from typing import Final

from constructs_pd.planning.charts import DCGM_NAMESPACE, KUBERAY_NAMESPACE
from constructs_pd.planning.defects import met_defects
from constructs_pd.planning.facts import Facts
from constructs_pd.planning.fit import context_tokens
from constructs_pd.planning.hand_over import transfer_time
from constructs_pd.planning.hand_over_size import hand_over_size, read_sources
from constructs_pd.planning.histograms import ITL, NIXL_TRANSFER, TTFT, around, at_least
from constructs_pd.planning.monitoring_plan import (
    DashboardsPlan,
    EfaExporterPlan,
    HandOverBudgetPlan,
    LatencyObjective,
    MonitoringPlan,
    SloPlan,
)
from constructs_pd.planning.spec_monitoring import Dashboards, Monitoring, Slo
from constructs_pd.planning.transfer_paths import engine_gbps, pair_gbps, planned_path

#: The versions whose metrics were looked at; rules are written in their names.
MEASURED_WITH: Final = {"ray": "2.58.0", "vllm": "0.26.0"}
#: How many times faster than allowed errors must come for the first alert (manifests/monitoring/burn_rates.py).
FASTEST_BURN: Final = 14.4
#: Where the repository has the pages of the alerts.
RUNBOOKS: Final = "docs/runbooks"
#: Ray's agents export every 10 s (Ray 2.58.0, metrics_report_interval_ms), and forget a gauge after twice that.
INTERVAL_SECONDS: Final = 15
METRICS_PORT_NAME: Final = "metrics"
#: The share of requests, or of tokens, that `p95` promises.
PROMISED_SHARE: Final = 0.95
#: Transfers share the links: one alone is what the plan reckons, and one beside others takes about twice that.
_MARGIN: Final = 2
#: The known defect with which a failed transfer is no failed request.
_UNNOTICED: Final = "vllm-52234"


def monitoring_plan(facts: Facts) -> MonitoringPlan | None:
    """Return what is decided, or none where no monitoring is wanted. No rule may refuse the specification."""
    stated = facts.spec.monitoring
    if stated is None:
        return None
    policy = facts.spec.network_policy
    return MonitoringPlan(
        scraping=stated.scraping,
        name_prefix=facts.spec.name,
        labels=stated.labels,
        has_rules=stated.rules,
        runbooks=_runbooks(stated),
        interval_seconds=INTERVAL_SECONDS,
        metrics_port_name=METRICS_PORT_NAME,
        replicas={"head": 1, **{phase.name: phase.spec.replicas for phase in facts.phases}},
        reads_of_gpu=read_sources(facts) or 1,
        answers_failed_transfers=_answers_failed_transfers(facts),
        hand_over=hand_over_budget(facts),
        slo=_slo(facts, facts.spec.slo) if facts.spec.slo is not None else None,
        operator_namespace=policy.operator_namespace if policy is not None else KUBERAY_NAMESPACE,
        gpu_namespace=DCGM_NAMESPACE if stated.dcgm_exporter else None,
        efa_exporter=EfaExporterPlan(**dict(stated.efa_exporter)) if stated.efa_exporter is not None else None,
        dashboards=_dashboards(stated.dashboards) if stated.dashboards is not None else None,
    )


def _answers_failed_transfers(facts: Facts) -> bool:
    if facts.model is None or facts.model.facts is None or facts.image is None:
        return True
    return any(row.id == _UNNOTICED for row, _ in met_defects(facts))


def hand_over_budget(facts: Facts) -> HandOverBudgetPlan | None:
    """Return what the plan reckons of the hand-over, or none where a fact is missing: PD225 says which."""
    context, path = context_tokens(facts), planned_path(facts)
    if context is None or path is None:
        return None
    longest, shortest = hand_over_size(facts, context), hand_over_size(facts, 1)
    if longest is None or shortest is None:
        return None
    seconds = transfer_time(longest, path, pair_gbps(facts, path)).alone
    # Whole blocks are handed over: a line from the shortest prompt to the longest is off by less than a block.
    per_token = (longest.bytes - shortest.bytes) / max(context - 1, 1)
    return HandOverBudgetPlan(
        longest_seconds=seconds,
        slow_seconds=at_least(_MARGIN * seconds, NIXL_TRANSFER),
        bytes_per_request=shortest.bytes,
        bytes_per_token=per_token,
        capacity_gbps=min(engine_gbps(facts, phase, path) * phase.spec.replicas for phase in facts.phases),
    )


def decode_share_seconds(facts: Facts, slo: Slo) -> float | None:
    """Return how much of the promised time to the first token is decode's, or none where that cannot be said.

    Decode's engine gets a request when prefill has answered (Ray 2.58.0 prefill_decode/pd_server.py,
    _pd_handle_request): from then on it waits for the KV cache and makes the first step.
    """
    if slo.ttft_decode_seconds is not None:
        return slo.ttft_decode_seconds
    budget = hand_over_budget(facts)
    if budget is None:
        return None
    # On a boundary, so that decode's part is counted and not interpolated.
    return at_least(_MARGIN * budget.longest_seconds + (slo.itl_p95_seconds or 0.0), TTFT)


def _slo(facts: Facts, slo: Slo) -> SloPlan:
    itl = slo.itl_p95_seconds
    return SloPlan(
        ttft_seconds=slo.ttft_p95_seconds,
        ttft=_ttft(facts, slo, slo.ttft_p95_seconds) if slo.ttft_p95_seconds is not None else (),
        itl=_objective("decode", itl, ITL) if itl is not None else None,
        availability=slo.availability,
    )


def _ttft(facts: Facts, slo: Slo, promised: float) -> tuple[LatencyObjective, ...]:
    decode = decode_share_seconds(facts, slo)
    assert decode is not None  # PD183 and PD184 refuse what leaves nothing for a phase
    # Rounded, as what a user states in decimals is no such number in binary.
    return (_objective("prefill", round(promised - decode, 6), TTFT), _objective("decode", decode, TTFT))


def _objective(phase: str, seconds: float, boundaries: tuple[float, ...]) -> LatencyObjective:
    below, above = around(seconds, boundaries)
    return LatencyObjective(
        phase="prefill" if phase == "prefill" else "decode",
        seconds=seconds,
        below_seconds=below,
        above_seconds=above,
        share=PROMISED_SHARE,
    )


def _dashboards(stated: Dashboards) -> DashboardsPlan:
    folder = {stated.folder_annotation: stated.folder} if stated.folder is not None else {}
    return DashboardsPlan(labels=stated.labels, annotations=folder)


def _runbooks(stated: Monitoring) -> str:
    return (stated.runbook_base_url or RUNBOOKS).rstrip("/")
