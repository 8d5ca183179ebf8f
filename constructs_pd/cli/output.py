"""Tables and JSON on standard output: with colours on a terminal, plain when they are piped."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from typing import Any

Row = Sequence[str]


def table(title: str, columns: Row, rows: Sequence[Row]) -> None:
    """Print a table; the first column names what a row is about."""
    if not sys.stdout.isatty():
        _plain(columns, rows)
        return
    from rich.console import Console
    from rich.table import Table

    drawn = Table(title=title, title_justify="left", header_style="bold")
    for column in columns:
        drawn.add_column(column)
    for row in rows:
        drawn.add_row(*row)
    Console().print(drawn)


def as_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2, ensure_ascii=False))


def line(text: str = "") -> None:
    """Print a line."""
    print(text)


def complaint(text: str) -> None:
    """Print what is wrong to standard error."""
    print(text, file=sys.stderr)


def _plain(columns: Row, rows: Sequence[Row]) -> None:
    """Print columns of even width, without rules or colours."""
    lines = [columns, *rows]
    widths = [max(len(row[index]) for row in lines) for index in range(len(columns))]
    for row in lines:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
