"""What this machine must have for a rehearsal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from constructs_pd.rehearsal.engines import GIB_OF_HEAD, GIB_PER_ENGINE, GIB_PER_NODE, EngineName
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.nodes import PlannedNode

_MEMINFO: Final = Path("/proc/meminfo")
_KIB_PER_GIB: Final = 1024**2


def require_linux(platform: str = sys.platform) -> None:
    """Refuse other systems: processes are found in /proc and ended through prctl.

    Raises:
        RehearsalError: This is not Linux.
    """
    if platform != "linux":
        raise RehearsalError(f"a rehearsal needs Linux, this is {platform}", "rehearse in a container or on a server")


def needed_gib(nodes: Sequence[PlannedNode], engine: EngineName, tensor_parallel: int) -> float:
    """Return what a rehearsal takes of memory, in GiB, as measured with the tiny model."""
    workers = len(nodes) - 1
    # One engine more: the aggregated one starts while the others end.
    processes = (workers + 1) * (tensor_parallel if engine == "vllm" else 1)
    return GIB_OF_HEAD + workers * GIB_PER_NODE + processes * GIB_PER_ENGINE[engine]


def require_memory(needed: float, meminfo: Path = _MEMINFO) -> None:
    """Refuse to start what the kernel would end half-way.

    Raises:
        RehearsalError: Less is available.
    """
    lines = dict(line.split(":", 1) for line in meminfo.read_text().splitlines())
    available = int(lines["MemAvailable"].split()[0]) / _KIB_PER_GIB
    if available < needed:
        raise RehearsalError(
            f"the rehearsal takes about {needed:.1f} GiB of memory, {available:.1f} GiB are available",
            "end other programs, rehearse with fewer replicas, or with --engine mock",
        )
