"""What a real Prometheus scraped and recorded, kept as text: dashboards and rules are looked at without an engine.

The text is OpenMetrics with timestamps, which promtool makes a Prometheus's data of.
"""

from __future__ import annotations

import gzip
import subprocess
from functools import cache
from pathlib import Path
from typing import Final

from tools.monitoring.programs import program
from tools.monitoring.server import Server

RECORDED: Final = Path(__file__).parents[2] / "tests" / "data" / "monitoring" / "recorded.om.gz"
#: What dashboards and rules read: Ray's own metrics are ten times as many.
_SERVE: Final = "ray_serve_(num_http|http_request|deployment_|num_ongoing|replica_).+"
KEPT: Final = f'{{__name__=~"up|ray_vllm_.+|{_SERVE}|phase:.+|endpoint:.+"}}'
_STEP_SECONDS: Final = 15.0
#: Of all metrics alike, or different in each run.
_DROPPED: Final = frozenset(
    {
        *("Component", "NodeAddress", "SessionName", "Version", "job", "instance"),
        *("otel_scope_name", "otel_scope_schema_url", "otel_scope_version"),
    }
)


def save(server: Server, start: float, end: float) -> int:
    """Write what a server has of a time, and return how many series that are."""
    series = server.query_range(KEPT, start, end, _STEP_SECONDS)
    lines = []
    for each in sorted(series, key=lambda found: sorted(found["metric"].items())):
        labels = {key: value for key, value in each["metric"].items() if key not in _DROPPED}
        name = labels.pop("__name__")
        text = ",".join(f'{key}="{_escaped(value)}"' for key, value in sorted(labels.items()))
        lines.append((name, [f"{name}{{{text}}} {value} {stamp:.3f}" for stamp, value in each["values"]]))
    names = dict.fromkeys(name for name, _ in lines)
    written = []
    for name in names:
        # Without a type the suffixes of counters and histograms are names like others.
        written.append(f"# TYPE {name} unknown")
        written += [line for own, some in lines if own == name for line in some]
    RECORDED.parent.mkdir(parents=True, exist_ok=True)
    with RECORDED.open("wb") as raw, gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as file:
        file.write(("\n".join([*written, "# EOF"]) + "\n").encode())
    return len(series)


def restore(folder: Path) -> Path:
    """Make a Prometheus's data of what was kept, below a folder, and return where that is.

    Raises:
        NoProgramError: There is no promtool.
    """
    folder.mkdir(parents=True, exist_ok=True)
    text = folder / "recorded.om"
    text.write_bytes(gzip.decompress(RECORDED.read_bytes()))
    data = folder / "data"
    command = [str(program("promtool")), "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    return data


@cache
def times() -> tuple[float, float]:
    """Return the first and the last moment that was kept, in seconds since 1970."""
    lines = gzip.decompress(RECORDED.read_bytes()).decode().splitlines()
    stamps = [float(line.rpartition(" ")[2]) for line in lines if line and not line.startswith("#")]
    return min(stamps), max(stamps)


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
