"""GPUs and EFA interfaces: prefill in the left column, decode in the right one.

What NVIDIA's DCGM exporter exports is shown where monitoring asks for its chart, and the counters of AWS's EFA node
exporter where the specification says that the cluster has it. Neither DCGM nor Prometheus' own node exporter has any of
EFA's counters (prometheus/node_exporter#3670 would read them; it was open when last seen, on 2026-11-30).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from grafana_foundation_sdk.models import units

from constructs_pd.manifests.dashboards.board import Board, Panel
from constructs_pd.manifests.dashboards.hand_over import capacity_marks
from constructs_pd.manifests.dashboards.overview import PHASES
from constructs_pd.manifests.dashboards.panels import RED, Mark, Query, lines
from constructs_pd.manifests.monitoring.pod_monitors import EFA_PREFIX
from constructs_pd.manifests.monitoring.promql import BY_PHASE, RECENT, Scope, scope_of, total
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.monitoring_plan import MonitoringPlan

_GPU: Final = "{{Hostname}} GPU {{gpu}}"
#: What goes wrong on an interface, by EFA's names of it (AWS EC2 user guide, Monitor an Elastic Fabric Adapter). The
#: last four are there on newer instances alone.
_FAULTS: Final = (
    *("rx_drops", "rdma_read_wr_err", "rdma_write_wr_err"),
    *("retrans_pkts", "retrans_timeout_events", "impaired_remote_conn_events", "unresponsive_remote_events"),
)
#: The ways of a byte: reads and writes of memory in hardware, and messages, of which slower instances make them.
_WAYS: Final = (
    *("rdma_read_bytes", "rdma_read_resp_bytes", "rdma_write_bytes", "rdma_write_recv_bytes"),
    *("send_bytes", "recv_bytes"),
)

PanelOfPhase = Callable[[str], Panel]


def gpus(board: Board, plan: DeploymentPlan, monitoring: MonitoringPlan) -> None:
    """Add the panels of the exporters that are there; none without both."""
    scope = scope_of(plan)
    if monitoring.gpu_namespace is not None:
        board.row("GPUs")
        _beside(board, _gpus(scope))
    if monitoring.efa_exporter is not None:
        board.row("EFA")
        _beside(board, _efa(scope, monitoring))


def _beside(board: Board, panels: Iterable[PanelOfPhase]) -> None:
    for panel in panels:
        board.add(*(panel(phase) for phase in PHASES))


def _gpus(scope: Scope) -> Iterable[PanelOfPhase]:
    def of(metric: str, phase: str) -> str:
        return scope.of(metric, f'phase="{phase}"')

    def mean(metric: str, phase: str) -> str:
        return f"avg by ({BY_PHASE}) ({of(metric, phase)})"

    def busy(phase: str) -> Panel:
        expected = {
            "prefill": "Prefill should be limited by its tensor cores.",
            "decode": "Decode should be limited by its memory.",
        }
        return lines(
            f"{phase}: what its GPUs are busy with, mean",
            f"Which part of the GPUs limits {phase}? {expected[phase]}",
            [
                Query(mean("DCGM_FI_PROF_GR_ENGINE_ACTIVE", phase), "anything"),
                Query(mean("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", phase), "tensor cores"),
                Query(mean("DCGM_FI_PROF_DRAM_ACTIVE", phase), "memory"),
            ],
            unit=units.PercentUnit,
            most=1,
        )

    def each(phase: str) -> Panel:
        return lines(
            f"{phase}: each GPU in use",
            f"Do all GPUs of {phase} work alike? One that rests holds the others up, or gets no requests.",
            [Query(of("DCGM_FI_DEV_GPU_UTIL", phase), _GPU)],
            unit=units.Percent,
            most=100,
        )

    def memory(phase: str) -> Panel:
        used, free = of("DCGM_FI_DEV_FB_USED", phase), of("DCGM_FI_DEV_FB_FREE", phase)
        return lines(
            f"{phase}: memory of each GPU",
            f"Is the memory of the GPUs of {phase} taken as planned? vLLM takes its share at the start and keeps it.",
            [Query(f"{used} / ({used} + {free})", _GPU)],
            unit=units.PercentUnit,
            most=1,
        )

    def pcie(phase: str) -> Panel:
        return lines(
            f"{phase}: PCIe of all GPUs",
            "How much do the GPUs exchange with the rest of their node? Without GPUDirect RDMA each KV cache takes "
            "this way.",
            [
                Query(total(of(f"DCGM_FI_PROF_PCIE_{way}_BYTES", phase)), name)
                for way, name in (("TX", "from the GPUs"), ("RX", "to the GPUs"))
            ],
            unit=units.BytesPerSecondSI,
        )

    def power(phase: str) -> Panel:
        return lines(
            f"{phase}: power of each GPU",
            f"Do GPUs of {phase} hold back, or rest?",
            [Query(of("DCGM_FI_DEV_POWER_USAGE", phase), _GPU)],
            unit=units.Watt,
        )

    def temperature(phase: str) -> Panel:
        return lines(
            f"{phase}: temperature of each GPU",
            f"Does a GPU of {phase} become hotter than the others?",
            [Query(of("DCGM_FI_DEV_GPU_TEMP", phase), _GPU)],
            unit=units.Celsius,
        )

    def faults(phase: str) -> Panel:
        return lines(
            f"{phase}: faults of GPUs",
            "Did a GPU report an error (its XID), or fail to replace a row of its memory (1)?",
            [
                Query(of("DCGM_FI_DEV_XID_ERRORS", phase), f"XID, {_GPU}"),
                Query(of("DCGM_FI_DEV_ROW_REMAP_FAILURE", phase), f"row, {_GPU}"),
            ],
            unit=units.Number,
            marks=[Mark(1, RED)],
        )

    return (busy, each, memory, pcie, power, temperature, faults)


def _efa(scope: Scope, monitoring: MonitoringPlan) -> Iterable[PanelOfPhase]:
    def rate(counter: str, phase: str) -> str:
        return total(scope.counters(f"{EFA_PREFIX}{counter}", RECENT, f'phase="{phase}"'))

    def throughput(phase: str) -> Panel:
        dashed = " Dashed: where transfers begin to wait, and what the plan reckons." if monitoring.hand_over else ""
        return lines(
            f"{phase}: EFA, all nodes",
            f"What do the interfaces of {phase} carry, whatever it is?{dashed}",
            [Query(rate("tx_bytes", phase), "sent"), Query(rate("rx_bytes", phase), "received")],
            unit=units.BytesPerSecondSI,
            marks=capacity_marks(monitoring.hand_over),
        )

    def ways(phase: str) -> Panel:
        return lines(
            f"{phase}: how EFA moves it",
            "Does memory move in hardware (rdma), or in messages (send, recv), of which libfabric makes reads where an "
            "instance has none?",
            [Query(rate(counter, phase), counter.removesuffix("_bytes")) for counter in _WAYS],
            unit=units.BytesPerSecondSI,
        )

    def faults(phase: str) -> Panel:
        def increase(counter: str) -> str:
            selector = scope.of(f"{EFA_PREFIX}{counter}", f'phase="{phase}"')
            return total(f"increase({selector}[{RECENT}])")

        return lines(
            f"{phase}: faults of EFA in 5 minutes",
            "Does the network drop or repeat packets, or a peer not answer? Not every instance has all counters.",
            [Query(increase(counter), counter) for counter in _FAULTS],
            unit=units.Number,
        )

    return (throughput, ways, faults)
