"""What every page is made of: a note on top, and tables."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"
NOTE = "<!-- Written by `make pages`; change the data instead. -->\n"


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, tuple("---" for _ in columns), *rows]
    return "".join(f"| {' | '.join(cell.replace('|', '&#124;') for cell in line)} |\n" for line in lines)
