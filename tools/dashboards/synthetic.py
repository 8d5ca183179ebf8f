"""Series that no rehearsal has: of GPUs, of EFA's interfaces, and of an alert that fires. They are made up.

Their names and labels are those of the lists in tools/monitoring/data; values only look like what they stand for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from math import sin
from typing import Final

#: What their names begin with.
MADE_UP: Final = ("DCGM_", "node_amazonefa_", "ALERTS")
_STEP_SECONDS: Final = 15
_OWN: Final = 'namespace="inference",ray_service="qwen35-9b"'
_FAULTS: Final = (
    *("rdma_read_wr_err", "rdma_write_wr_err", "retrans_timeout_events"),
    *("impaired_remote_conn_events", "unresponsive_remote_events"),
)
_MEGA: Final = 1e6
#: A value that is left out: the series is not there.
_NOTHING: Final = -1.0
#: How much of the time passes before the alert fires.
_QUIET_SHARE: Final = 0.6
_MEMORY_MIB: Final = 22_528.0
_USED_MIB: Final = {"prefill": 20_400.0, "decode": 20_900.0}

#: The value of a gauge, or what a counter grows by in a second, at a time.
Course = Callable[[float], float]


def synthetic_series(start: float, end: float) -> str:
    """Return the series between two moments, as OpenMetrics."""
    lines: list[str] = []
    for name, labels, course, is_counter in _series(end - start):
        if f"# TYPE {name} unknown" not in lines:
            lines.append(f"# TYPE {name} unknown")
        counted = 0.0
        for step in range(int((end - start) / _STEP_SECONDS) + 1):
            seconds = step * _STEP_SECONDS
            value = course(seconds)
            counted += value * _STEP_SECONDS
            if value != _NOTHING:
                lines.append(f"{name}{{{labels}}} {counted if is_counter else value} {start + seconds:.3f}")
    return "\n".join([*lines, "# EOF"]) + "\n"


def _around(value: float, swing: float, phase: str = "decode") -> Course:
    shift = 0.0 if phase == "decode" else 2.0
    return lambda seconds: value + swing * sin(seconds / 60 + shift)


def _series(whole: float) -> Iterator[tuple[str, str, Course, bool]]:
    for phase in ("prefill", "decode"):
        gpu = f'{_OWN},phase="{phase}",gpu="0",UUID="GPU-{phase}",Hostname="ip-10-0-0-{1 if phase == "decode" else 2}"'
        yield from ((f"DCGM_FI_{name}", gpu, course, False) for name, course in _gpu(phase))
        efa = f'{_OWN},phase="{phase}",instance="10.0.0.1:9100",device="rdmap49s0",port="1"'
        yield from ((f"node_amazonefa_{name}", efa, course, True) for name, course in _efa(phase))
    alert = f'{_OWN},alertname="HandOverSlow",alertstate="firing",severity="warning",phase="decode"'
    yield "ALERTS", alert, lambda seconds: 1 if seconds > whole * _QUIET_SHARE else _NOTHING, False


def _gpu(phase: str) -> Iterator[tuple[str, Course]]:
    tensor, memory = (0.55, 0.25) if phase == "prefill" else (0.08, 0.7)
    yield "PROF_GR_ENGINE_ACTIVE", _around(0.8, 0.1, phase)
    yield "PROF_PIPE_TENSOR_ACTIVE", _around(tensor, 0.05, phase)
    yield "PROF_DRAM_ACTIVE", _around(memory, 0.05, phase)
    yield "DEV_GPU_UTIL", _around(85, 10, phase)
    yield "DEV_FB_USED", _around(_USED_MIB[phase], 0)
    yield "DEV_FB_FREE", _around(_MEMORY_MIB - _USED_MIB[phase], 0)
    yield "PROF_PCIE_TX_BYTES", _around((110 if phase == "prefill" else 20) * _MEGA, 10 * _MEGA, phase)
    yield "PROF_PCIE_RX_BYTES", _around((20 if phase == "prefill" else 110) * _MEGA, 10 * _MEGA, phase)
    yield "DEV_POWER_USAGE", _around(62, 6, phase)
    yield "DEV_GPU_TEMP", _around(58, 3, phase)
    yield "DEV_XID_ERRORS", _around(0, 0)
    yield "DEV_ROW_REMAP_FAILURE", _around(0, 0)


def _efa(phase: str) -> Iterator[tuple[str, Course]]:
    sends, receives = (95.0, 4.0) if phase == "prefill" else (4.0, 95.0)
    yield "tx_bytes", _around(sends * _MEGA, _MEGA, phase)
    yield "rx_bytes", _around(receives * _MEGA, _MEGA, phase)
    for name in ("rdma_read_bytes", "rdma_read_resp_bytes", "rdma_write_bytes", "rdma_write_recv_bytes"):
        yield name, _around(0, 0)
    yield "send_bytes", _around(sends * _MEGA, _MEGA, phase)
    yield "recv_bytes", _around(receives * _MEGA, _MEGA, phase)
    yield "rx_drops", _around(0, 0)
    yield "retrans_pkts", _around(0.2, 0.1, phase)
    yield from ((name, _around(0, 0)) for name in _FAULTS)
