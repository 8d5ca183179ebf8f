"""`constructs-pd`: plans a specification, shows what the planner knows, and checks a live endpoint.

Exit status: 0 without errors, 1 with errors in a specification or a failed check, 2 for a command that cannot be
understood or an endpoint that cannot be checked.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from typing import Final

from constructs_pd.cli.status import INTERRUPTED

# What a shell reports of a program that SIGPIPE ended.
PIPE_CLOSED: Final = 141
NOT_WRITTEN: Final = 1


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return the exit status; whoever stops it, or stops reading, sees no traceback."""
    if sys.stdout is None:  # it was closed
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - for as long as the program runs
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # as standard error is: a name may hold what it cannot write
    try:
        try:
            from constructs_pd.cli.commands import run  # here, because Ctrl-C may also come while it loads

            return run(arguments)
        finally:
            sys.stdout.flush()
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        _drop_output()
        return PIPE_CLOSED
    except OSError as error:
        _drop_output()
        print(f"cannot write: {error.strerror}", file=sys.stderr)  # noqa: T201 - nothing else is left to say it with
        return NOT_WRITTEN


def _drop_output() -> None:
    """Have Python's own flush at exit succeed."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
