"""The names of metrics: those that the rehearsal exports, and those of programs that it cannot run.

`exported.yaml` is written by `python -m tools.monitoring`, from the page of each Ray node, and with it a second list of
the same that tests hold against it: a name that is lost by hand is missed, whether a rule reads it or not.
`sourced.yaml` is written by hand, each row with the source in which the name stands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import yaml

DATA: Final = Path(__file__).with_name("data")
EXPORTED: Final = DATA / "exported.yaml"
SOURCED: Final = DATA / "sourced.yaml"
PINNED: Final = Path(__file__).parents[2] / "tests" / "data" / "monitoring" / "exported.txt"

_TYPE: Final = re.compile(r"^# TYPE (\S+) (\S+)$")
_SAMPLE: Final = re.compile(r"^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? \S+")
_LABEL: Final = re.compile(r'(\w+)="(?:[^"\\]|\\.)*"')
#: Of a histogram's series, after its name.
_PARTS: Final = ("_bucket", "_count", "_sum")
#: Labels that Ray gives to every metric and that say nothing of it.
_OF_ALL: Final = frozenset(
    {
        *("Component", "NodeAddress", "SessionName", "Version", "WorkerId"),
        *("otel_scope_name", "otel_scope_schema_url", "otel_scope_version"),
    }
)
_WANTED: Final = re.compile(r"^ray_(vllm|serve)_")


@dataclass(frozen=True)
class MetricName:
    """A metric.

    Attributes:
        metric: Its name; of a histogram, without `_bucket`, `_count` or `_sum`.
        type: `counter`, `gauge` or `histogram`.
        labels: Its labels, without those that all have and a histogram's `le`.
        where: Who exports it: parts of the deployment, or another program.
        source: Where the name stands.
        date: When that was read.
    """

    metric: str
    type: str
    labels: tuple[str, ...]
    where: tuple[str, ...]
    source: str
    date: str

    def series(self) -> dict[str, frozenset[str]]:
        """Return the names of its series with their labels."""
        labels = frozenset(self.labels)
        if self.type != "histogram":
            return {self.metric: labels}
        return {f"{self.metric}{part}": labels | {"le"} if part == "_bucket" else labels for part in _PARTS}


def names_on_pages(pages: Mapping[str, str]) -> Iterator[tuple[str, str, tuple[str, ...], tuple[str, ...]]]:
    """Yield name, type, labels and who exports it, of Ray's and vLLM's metrics on pages.

    Args:
        pages: What each kind of node exports, in Prometheus' text format.
    """
    kinds: dict[str, str] = {}
    labels: dict[str, set[str]] = {}
    where: dict[str, set[str]] = {}
    for kind_of_node, page in pages.items():
        for line in page.splitlines():
            if match := _TYPE.match(line):
                kinds[match[1]] = match[2]
            elif match := _SAMPLE.match(line):
                name = _without_part(match[1], kinds)
                if _WANTED.match(name):
                    found = set(_LABEL.findall(match[2] or "")) - _OF_ALL - {"le"}
                    labels.setdefault(name, set()).update(found)
                    where.setdefault(name, set()).add(kind_of_node)
    for name in sorted(labels):
        yield name, kinds[name], tuple(sorted(labels[name])), tuple(sorted(where[name]))


def _without_part(name: str, kinds: Mapping[str, str]) -> str:
    for part in _PARTS:
        whole = name.removesuffix(part)
        if whole != name and kinds.get(whole) == "histogram":
            return whole
    return name


def write_exported(pages: Mapping[str, str], versions: str, date: str) -> int:
    """Write what pages export, and return how many names that are."""
    rows = list(names_on_pages(pages))
    head = (
        "# Metrics of Ray Serve and vLLM as a rehearsal with the real engine exports them, and which pods do.\n"
        "# Written by `python -m tools.monitoring`. A counter is there from its first event on: what did not happen\n"
        "# is in sourced.yaml. Every metric also has WorkerId, NodeAddress, SessionName, Version and Component.\n"
    )
    lines = [
        f"  - {{metric: {name}, type: {kind}, labels: [{', '.join(labels)}], where: [{', '.join(where)}]}}"
        for name, kind, labels, where in rows
    ]
    text = f"{head}source: a rehearsal with {versions}\ndate: {date}\nmetrics:\n" + "\n".join(lines) + "\n"
    EXPORTED.write_text(text, encoding="utf-8")
    PINNED.write_text("".join(f"{line}\n" for line in pinned_lines(exported())), encoding="utf-8")
    return len(rows)


def pinned_lines(names: Iterable[MetricName]) -> list[str]:
    """Return a line for each name, with its type, its labels and who exports it."""
    return sorted(f"{name.metric} {name.type} [{','.join(name.labels)}] {','.join(name.where)}" for name in names)


def exported() -> tuple[MetricName, ...]:
    """Return every metric that a rehearsal exported."""
    found: dict[str, Any] = yaml.safe_load(EXPORTED.read_text(encoding="utf-8"))
    return _names({"source": found["source"], "date": found["date"], **row} for row in found["metrics"])


def known() -> tuple[MetricName, ...]:
    """Return every metric whose name is known, exported ones first."""
    return exported() + _names(yaml.safe_load(SOURCED.read_text(encoding="utf-8")))


def _names(rows: Iterable[Mapping[str, Any]]) -> tuple[MetricName, ...]:
    return tuple(
        MetricName(
            metric=row["metric"],
            type=row["type"],
            labels=tuple(row["labels"]),
            where=tuple(row["where"]),
            source=row["source"],
            date=str(row["date"]),
        )
        for row in rows
    )


def series_of(names: Iterable[MetricName]) -> dict[str, frozenset[str]]:
    """Return the names of all series with their labels."""
    return {name: labels for metric in names for name, labels in metric.series().items()}
