"""The catalogue's errors of predictions, worked out anew from the published numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import yaml

from benchmarks.latencies import Compared, compared, published_latencies

HEAD: Final = """\
# What the planner predicts beside what people published, one row for each number; docs/performance_accuracy.md shows
# them. Written by `make pages` from benchmarks/published_latencies.yaml, which has every setting.
"""
FILE: Final = (
    Path(__file__).resolve().parents[1] / "constructs_pd" / "planning" / "catalog" / "data" / "prediction_errors.yaml"
)
_DIGITS: Final = 4


class _Plain(yaml.SafeDumper):
    """Writes equal values out, each time."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def fresh_errors() -> list[dict[str, Any]]:
    """Return a row for each published number."""
    return [_row(each) for row in published_latencies() for each in compared(row)]


def as_file(rows: list[dict[str, Any]]) -> str:
    """Return rows as their file holds them."""
    return HEAD + yaml.dump(rows, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)


def _row(each: Compared) -> dict[str, Any]:
    row = each.row
    return {
        "number": each.number,
        "gpu": row.gpu_name or row.gpu,
        "time": each.time,
        "load": row.kind_of_load,
        "is_apart": row.prefill_engines > 0,
        "is_fitted": row.fitted,
        "published_ms": each.published_ms,
        "predicted_ms": float(f"{each.predicted_ms:.{_DIGITS}g}"),
        "source": row.source,
        "date": row.date,
    }
