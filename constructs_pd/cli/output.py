"""Text, tables and JSON on standard output: in colour and wrapped on a terminal, plain when they are piped."""

from __future__ import annotations

import json
import sys
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from constructs_pd.findings import Finding, Severity

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

STYLES = {Severity.ERROR: "bold red", Severity.WARNING: "yellow"}
REMEDY_INDENT = 6
GROUP_INDENT = "  "
GAP = "  "
# To how few columns of a terminal a column is narrowed whose cells may break.
LEAST_BROKEN = 10


class MissingRichError(ImportError):
    """A terminal's tables are drawn with rich, which is not installed."""


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes:
        name: Its head.
        is_number: Whether it is flush right.
        may_break: Whether its cells may take several lines where the terminal is narrow.
        is_optional: Whether it is left out where the terminal is too narrow.
    """

    name: str
    is_number: bool = False
    may_break: bool = False
    is_optional: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rows of a table under a title of their own; an empty title is left out."""

    title: str
    rows: Sequence[Sequence[str]]


def table(columns: Sequence[Column], groups: Sequence[Group]) -> None:
    """Print a table; the first column says what a row is about."""
    if not is_terminal():
        _plain_table(columns, groups)
        return
    console, shown = _console(), list(columns)
    while shown[-1].is_optional and _least_width(shown, groups) > console.width:
        shown.pop()
    console.print(_drawn(shown, groups))
    if len(shown) < len(columns):
        hidden = ", ".join(column.name for column in columns[len(shown) :])
        line(f"no room for {hidden}: a wider terminal shows them, and --json", style="dim")


def line(text: str = "", *, indent: int = 0, style: str = "") -> None:
    """Print a line; a terminal wraps it at words.

    Args:
        text: The line.
        indent: How far it is indented, in columns.
        style: How rich shows it on a terminal.
    """
    if not text or not is_terminal():
        print(" " * indent + printable(text) if text else "")
        return
    console = _console()
    from rich.padding import Padding
    from rich.text import Text

    console.print(Padding(Text(printable(text), style=style), (0, 0, 0, indent), expand=False))


def drawing(text: str) -> None:
    """Print a drawing as it stands."""
    print(text)


def finding(found: Finding) -> None:
    """Print a finding, in the words of the synth."""
    what, remedy = found.render().split("\n", 1)
    line(what, style=STYLES[found.severity])
    line(remedy.strip(), indent=REMEDY_INDENT)


def as_json(value: Any) -> None:
    """Print a value as JSON."""
    print(json.dumps(value, indent=2))


@contextmanager
def progress() -> Iterator[Callable[[str], None]]:
    """Offer a function that tells of progress on standard error: lines, with a spinner below on a terminal."""
    if not sys.stderr.isatty():
        yield complaint
        return
    console = _console(on_standard_error=True)
    from rich.markup import escape

    with console.status("") as status:

        def tell(text: str) -> None:
            console.print(text)
            status.update(escape(text))

        yield tell


def complaint(text: str) -> None:
    """Print what is wrong to standard error."""
    print(printable(text), file=sys.stderr)


def is_terminal() -> bool:
    """Return whether people read standard output."""
    return sys.stdout.isatty()


def can_print(text: str) -> bool:
    """Return whether standard output's encoding has these characters."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True


def printable(text: str) -> str:
    """Return a text without control characters, which a terminal would obey; lines stay lines."""
    return "".join(_escape(character) if _is_control(character) else character for character in text)


def _is_control(character: str) -> bool:
    """Return whether a character is a control, a format or a line break of Unicode, also what turns text round."""
    category = unicodedata.category(character)
    return character != "\n" and (category.startswith("C") or category in ("Zl", "Zp"))


def _escape(character: str) -> str:
    return character.encode("unicode_escape").decode("ascii")


def _console(*, on_standard_error: bool = False) -> Console:
    try:
        from rich.console import Console
    except ModuleNotFoundError:
        message = "the command line's tables need rich: pip install 'constructs-pd[cli]'"
        raise MissingRichError(message, name="rich") from None
    return Console(stderr=on_standard_error, highlight=False, markup=False, emoji=False)


def _drawn(columns: Sequence[Column], groups: Sequence[Group]) -> Table:
    from rich import box
    from rich.table import Table
    from rich.text import Text

    drawn = Table(
        box=box.SIMPLE_HEAD,
        header_style="bold",
        pad_edge=False,
        padding=(0, len(GAP) - 1, 0, 0),
        show_header=_has_heads(columns),
    )
    for column in columns:
        drawn.add_column(
            Text(_head(column)),
            justify="right" if column.is_number else "left",
            no_wrap=not column.may_break,
            overflow="fold",
        )
    for group in groups:
        if group.title:
            drawn.add_row(Text(group.title, style="bold"))
        for row in _indented(group):
            drawn.add_row(*(Text(printable(cell)) for cell in row[: len(columns)]))
        drawn.add_section()
    return drawn


def _least_width(columns: Sequence[Column], groups: Sequence[Group]) -> int:
    """Return the columns of a terminal that a table takes at least."""
    rows = [row for group in groups for row in group.rows]
    total = 0
    for index, column in enumerate(columns):
        widest = max(len(text) for text in (*_head(column).split("\n"), *(row[index] for row in rows)))
        total += (min(widest, LEAST_BROKEN) if column.may_break else widest) + len(GAP)
    return total


def _head(column: Column) -> str:
    return column.name.replace(" ", "\n") if column.is_number else column.name


def _has_heads(columns: Sequence[Column]) -> bool:
    return any(column.name for column in columns)


def _indented(group: Group) -> list[Sequence[str]]:
    if not group.title:
        return list(group.rows)
    return [(f"{GROUP_INDENT}{name}", *cells) for name, *cells in group.rows]


def _plain_table(columns: Sequence[Column], groups: Sequence[Group]) -> None:
    """Print columns of even width, without colours."""
    heads = [column.name for column in columns]
    rows = {group.title: [[printable(cell) for cell in row] for row in _indented(group)] for group in groups}
    lines = [heads, *(row for part in rows.values() for row in part)]
    widths = [max(len(cells[index]) for cells in lines) for index in range(len(columns))]

    def print_row(cells: Sequence[str]) -> None:
        aligned = (
            cell.rjust(width) if column.is_number else cell.ljust(width)
            for cell, width, column in zip(cells, widths, columns, strict=True)
        )
        print(GAP.join(aligned).rstrip())

    if _has_heads(columns):
        print_row(heads)
    for title, part in rows.items():
        if title:
            print(title)
        for cells in part:
            print_row(cells)
