"""The panels of a dashboard with what Prometheus answers to their queries."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tools.dashboards.synthetic import MADE_UP, synthetic_series
from tools.monitoring.expressions import series_read
from tools.monitoring.programs import program
from tools.monitoring.recorded import restore, times
from tools.monitoring.server import Server, prometheus

_STEP_SECONDS: Final = 15.0
_IN_LEGEND: Final = re.compile(r"\{\{\s*(\w+)\s*\}\}")


@dataclass(frozen=True)
class Line:
    """A series of a panel.

    Attributes:
        name: What its legend says.
        values: Moments in seconds since 1970 with their values.
    """

    name: str
    values: list[tuple[float, float]]


def is_made_up(panel: Mapping[str, Any]) -> bool:
    """Whether a panel reads series that no rehearsal has."""
    names = [read.name for target in panel.get("targets", []) for read in series_read(target["expr"])]
    return any(name.startswith(MADE_UP) for name in names)


@contextmanager
def recorded_server(folder: Path) -> Iterator[Server]:
    """Run a Prometheus that has what was recorded, and the series that are made up.

    Raises:
        NoProgramError: There is no Prometheus.
    """
    data, text = restore(folder), folder / "synthetic.om"
    text.write_text(synthetic_series(*times()), encoding="utf-8")
    command = [str(program("promtool")), "tsdb", "create-blocks-from", "openmetrics", str(text), str(data)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    with prometheus(folder) as server:
        yield server


def lines_of(server: Server, panel: dict[str, Any]) -> list[Line]:
    """Return what the queries of a panel yield, in their order."""
    start, end = times()
    found: list[Line] = []
    for target in panel.get("targets", []):
        for series in server.query_range(target["expr"], start, end, _STEP_SECONDS):
            values = [(float(stamp), float(value)) for stamp, value in series["values"]]
            found.append(Line(_legend(target["legendFormat"], series["metric"]), values))
    return found


def _legend(text: str, labels: dict[str, str]) -> str:
    return _IN_LEGEND.sub(lambda match: labels.get(match[1], ""), text)
