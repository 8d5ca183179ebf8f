"""`constructs-pd` in this process: what it printed, where, and how it ended."""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from unittest.mock import patch

from constructs_pd.cli.main import main


@dataclass(frozen=True, slots=True)
class Done:
    """A command that ended."""

    status: int
    out: str
    err: str


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def command(*arguments: str) -> Done:
    """Run a command with its output piped."""
    return _run(arguments, io.StringIO())


def on_terminal(*arguments: str, width: int = 80, **environment: str) -> Done:
    """Run a command with its output on a terminal of so many columns."""
    terminal = {"TERM": "xterm-256color", "COLUMNS": str(width), "LINES": "50", **environment}
    with patch.dict("os.environ", terminal):
        return _run(arguments, _Terminal())


def _run(arguments: tuple[str, ...], out: io.StringIO) -> Done:
    err = io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            status = main(arguments)
        except SystemExit as ended:
            status = int(ended.code or 0)
    return Done(status, out.getvalue(), err.getvalue())
