"""The installed program: its status, and how it ends when whoever reads it does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from contextlib import redirect_stdout
from importlib.metadata import version
from pathlib import Path
from typing import IO

import pytest

from constructs_pd.cli import main as program
from support.command_line import command
from support.specs import REFERENCE_FILE, ROOT

PROGRAM = str(Path(sys.executable).with_name("constructs-pd"))
BAD = ROOT / "tests" / "data" / "bad_specs" / "zero-replicas.yaml"


def run(*arguments: str, shell: str = "") -> subprocess.CompletedProcess[str]:
    """Run the program, followed by shell text where given."""
    line = ["bash", "-o", "pipefail", "-c", f'"$0" "$@" {shell}', PROGRAM, *arguments]
    return subprocess.run(line, capture_output=True, text=True, check=False, timeout=60, cwd=ROOT)


def test_status_0_without_errors() -> None:
    done = run("plan", str(REFERENCE_FILE), "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["plan"]["name"] == "qwen35-9b"


def test_status_1_with_errors() -> None:
    done = run("plan", str(BAD))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("1 error, nothing was written.\n")


@pytest.mark.parametrize(
    "arguments", [(), ("plan",), ("plna", "x"), ("plan", "a", "b"), ("explain",), ("models", "--no")]
)
def test_status_2_for_a_wrong_command(arguments: tuple[str, ...]) -> None:
    done = command(*arguments)
    assert (done.status, done.out) == (2, "")
    assert done.err.startswith("usage: constructs-pd")


def test_help_and_version() -> None:
    assert command("--version").out == f"constructs-pd {version('constructs-pd')}\n"
    for arguments in (("-h",), ("plan", "--help"), ("explain", "-h"), ("rules", "-h")):
        done = command(*arguments)
        assert (done.status, done.err) == (0, "")
        assert "usage: constructs-pd" in done.out
    assert "exit status: 0 without errors, 1 with errors" in " ".join(command("-h").out.split())


def test_a_reader_who_has_seen_enough_is_no_error_to_print() -> None:
    done = run("rules", shell="| head -1")
    assert done.stdout == "code   severity  what must hold\n"
    assert done.stderr == ""
    assert done.returncode in (0, program.PIPE_CLOSED)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_a_full_disk_is_said_in_one_line() -> None:
    done = run("rules", shell="> /dev/full")
    assert (done.returncode, done.stderr) == (1, "cannot write: No space left on device\n")


def test_a_closed_output_is_no_traceback() -> None:
    done = run("rules", shell=">&-")
    assert (done.returncode, done.stderr) == (0, "")


def into(file: IO[str], *arguments: str) -> int:
    """Run a command in this process with its output in a file."""
    with file, redirect_stdout(file):
        return program.main(arguments)


def test_a_pipe_that_was_closed_ends_the_program_as_the_signal_would() -> None:
    read, write = os.pipe()
    os.close(read)
    assert into(os.fdopen(write, "w"), "rules") == program.PIPE_CLOSED == 128 + signal.SIGPIPE


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="this system has no /dev/full")
def test_what_cannot_be_written_is_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert into(open("/dev/full", "w", encoding="utf-8"), "rules") == program.NOT_WRITTEN  # noqa: SIM115
    assert capsys.readouterr().err == "cannot write: No space left on device\n"


def test_without_any_output_a_command_still_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    assert program.main(["rules"]) == 0
    sys.stdout.close()


def test_an_interrupt_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    from constructs_pd.cli import commands

    def interrupted(_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(commands, "run", interrupted)
    done = command("rules")
    assert (done.status, done.out, done.err) == (128 + signal.SIGINT, "", "")


def test_output_in_another_encoding_loses_nothing() -> None:
    done = subprocess.run(
        [PROGRAM, "plan", "é.yaml"],
        capture_output=True,
        check=False,
        timeout=60,
        env={**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "LC_ALL": "C"},
    )
    assert done.returncode == 1
    assert b"PD001" in done.stderr
    assert b"Traceback" not in done.stderr
