"""`constructs-pd rehearse`: the plan's own Serve application on this machine, without GPUs."""

from __future__ import annotations

import signal
import time
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from constructs_pd.cli import output
from constructs_pd.cli.arguments import positive_seconds
from constructs_pd.cli.output import Column, Group
from constructs_pd.cli.status import ERRORS, INTERRUPTED
from constructs_pd.findings import PlanError
from constructs_pd.planning.spec_file import plan_file
from constructs_pd.rehearsal.errors import LeftBehindError, RehearsalError
from constructs_pd.rehearsal.faults import FAULTS
from constructs_pd.rehearsal.losses import LOSSES
from constructs_pd.rehearsal.options import Options
from constructs_pd.rehearsal.rehearse import rehearse
from constructs_pd.rehearsal.report import Report
from constructs_pd.rehearsal.survival import Survival


def add_rehearse(commands: Any, as_json: ArgumentParser) -> None:
    """Add the command to a parser's commands."""
    rehearsing = commands.add_parser("rehearse", parents=[as_json], help="run a specification here, without GPUs")
    rehearsing.add_argument("specification", type=Path)
    rehearsing.add_argument("--engine", choices=("vllm", "mock"), default="vllm", help="vllm by default, on the CPU")
    rehearsing.add_argument("--port", type=_port, help="where Ray Serve listens; a free port by default")
    rehearsing.add_argument(
        "--timeout", type=positive_seconds, default=900.0, help="seconds for a deployment, 900 by default"
    )
    rehearsing.add_argument("--plant", choices=tuple(FAULTS), help="a fault, to see that the rehearsal catches it")
    rehearsing.add_argument(
        "--lose", choices=LOSSES, action="append", help="kill this while clients ask; may be given several times"
    )
    rehearsing.add_argument("--hold", action="store_true", help="go on serving instead of comparing, until Ctrl-C")
    rehearsing.set_defaults(run=rehearse_command)


def rehearse_command(stated: Namespace) -> int:
    """Rehearse a specification and print the report."""
    options = Options(stated.engine, stated.port, stated.timeout, stated.plant, tuple(stated.lose or ()), stated.hold)
    try:
        planned = plan_file(stated.specification)
        with _ended_like_interrupted(), output.progress() as tell:
            report = rehearse(planned, options, _timed(tell))
    except PlanError as error:
        output.complaint(str(error))
        return ERRORS
    except LeftBehindError as error:
        output.complaint(f"the rehearsal failed: {error}")
        return ERRORS
    except RehearsalError as error:
        output.complaint(f"the rehearsal failed: {error}\nEvery process has ended and every file is gone.")
        return ERRORS
    except KeyboardInterrupt:
        output.complaint("interrupted: every process has ended and every file is gone")
        return INTERRUPTED
    if stated.json:
        output.as_json(report.as_data())
    else:
        _print(report)
    return 0 if report.passed else ERRORS


def _port(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 65_536):
        raise ArgumentTypeError(f"{text!r} is no TCP port, 1 to 65535")
    return int(text)


def _timed(tell: Callable[[str], None]) -> Callable[[str], None]:
    start = time.monotonic()
    return lambda text: tell(f"{time.monotonic() - start:6.1f} s  {text}")


@contextmanager
def _ended_like_interrupted() -> Iterator[None]:
    """Let SIGTERM and a closed terminal end the rehearsal as Ctrl-C does, also where it runs in the background.

    A shell has programs in its background ignore SIGINT.
    """

    def interrupt(number: int, frame: Any) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _print(report: Report) -> None:
    engine = "the mock engine" if report.engine == "mock" else "vLLM on the CPU"
    output.line(f"{report.deployment}: rehearsed with {engine}")
    placed = [
        (
            row.deployment,
            row.node,
            f"{row.computed_tokens:,}",
            f"{row.handed_over_tokens:,}",
            f"{row.transferred_bytes:,}",
            f"{row.generated_tokens:,}",
        )
        for row in report.placed
    ]
    numbers = ("tokens computed", "tokens handed over", "bytes, about", "tokens generated")
    output.table(
        (Column("replica"), Column("node"), *(Column(name, is_number=True) for name in numbers)), [Group("", placed)]
    )
    output.line()
    steps = [(step.name, f"{step.seconds:.1f}") for step in report.steps]
    output.table((Column("step"), Column("seconds", is_number=True)), [Group("", steps)])
    output.line()
    checks = [("passed" if check.passed else "FAILED", check.name, check.detail) for check in report.checks]
    output.table((Column("result"), Column("check"), Column("found", may_break=True)), [Group("", checks)])
    output.line()
    for survived in report.survived:
        _print_survival(survived)
    failed = sum(not check.passed for check in report.checks)
    output.line(f"{len(report.checks) - failed} of {len(report.checks)} checks passed")


def _print_survival(survived: Survival) -> None:
    output.line(f"{survived.loss} was lost")
    rows = [(ending, str(count)) for ending, count in sorted(survived.endings.items())]
    rows += [
        ("seconds until every replica ran again", _or_never(survived.replaced_seconds)),
        ("seconds until the last request was sent that failed", f"{survived.failing_seconds:.1f}"),
        ("longest wait for an answer, in seconds", f"{survived.longest_wait_seconds:.1f}"),
        ("processes that the loss left behind", str(survived.left_processes)),
        ("wrong answers", str(survived.wrong)),
    ]
    output.table((Column("what clients saw"), Column("count", is_number=True)), [Group("", rows)])
    for ending, message in survived.messages.items():
        output.line(f"{ending}: {message}", indent=2)
    output.line()


def _or_never(seconds: float | None) -> str:
    return "not in time" if seconds is None else f"{seconds:.1f}"
