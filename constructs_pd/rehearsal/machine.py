"""What this machine must have for a rehearsal."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath
from typing import Final

from constructs_pd.rehearsal.engines import GIB_OF_HEAD, GIB_PER_ENGINE, GIB_PER_NODE, EngineName
from constructs_pd.rehearsal.errors import RehearsalError
from constructs_pd.rehearsal.nodes import PlannedNode

_KIB_PER_GIB: Final = 1024**2
_BYTES_PER_GIB: Final = 1024**3
#: A control group's limit and use, of version 2 and of version 1 (Linux's cgroup-v2.rst and cgroup-v1/memory.rst).
_CONTROL_GROUP_FILES: Final = (
    ("memory.max", "memory.current"),
    ("memory.limit_in_bytes", "memory.usage_in_bytes"),
)


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


def require_memory(needed: float, root: Path = Path("/")) -> None:
    """Refuse to start what the kernel would end half-way.

    Args:
        needed: What it takes, in GiB.
        root: Where /proc and /sys are.

    Raises:
        RehearsalError: Less is available.
    """
    lines = dict(line.split(":", 1) for line in (root / "proc/meminfo").read_text().splitlines())
    of_machine = int(lines["MemAvailable"].split()[0]) / _KIB_PER_GIB
    available = min([of_machine, *_left_in_control_groups(root)])
    if available < needed:
        raise RehearsalError(
            f"the rehearsal takes about {needed:.1f} GiB of memory, {available:.1f} GiB are available",
            "end other programs, rehearse with fewer replicas, or with --engine mock",
        )


def _left_in_control_groups(root: Path) -> Iterator[float]:
    """Yield what each limit on this process leaves, in GiB: a container has one of its own."""
    groups = root / "proc/self/cgroup"
    for line in groups.read_text().splitlines() if groups.exists() else ():
        _, controllers, path = line.split(":", 2)
        if controllers and "memory" not in controllers.split(","):
            continue
        mounted = root / "sys/fs/cgroup" / ("memory" if controllers else "")
        group = PurePosixPath(path.lstrip("/"))
        # Within a container the path may be one of the host: the limit then stands at the mount's own root.
        for folder in (mounted / each for each in (group, *group.parents)):
            yield from (left for names in _CONTROL_GROUP_FILES if (left := _left(folder, *names)) is not None)


def _left(folder: Path, limit: str, used: str) -> float | None:
    try:
        # The cache of files counts as used, but the kernel gives what of it is inactive back: the kubelet reckons so.
        counts = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
        inactive = int(counts.get("total_inactive_file", counts.get("inactive_file", "0")))
        return (int((folder / limit).read_text()) - int((folder / used).read_text()) + inactive) / _BYTES_PER_GIB
    except (OSError, ValueError):  # no such group or version, or the limit is "max"
        return None
