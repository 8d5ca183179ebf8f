"""The command: what it prints, and with which status it ends."""

from __future__ import annotations

import json
import re
import signal
import socket
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from constructs_pd.cli import rehearse as command
from constructs_pd.cli.main import main
from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.errors import LeftBehindError, RehearsalError
from constructs_pd.rehearsal.report import Placed, Report, Step
from constructs_pd.rehearsal.survival import Survival
from support.specs import REFERENCE_FILE

PLACED = Placed("Decode:own", "decode-0", "pd-decode 1", 0, 1500, 96000, 24)


def report(passed: bool) -> Report:
    return Report("own", "mock", (Step("start", 1.5),), (PLACED,), (Check("it holds", passed, "what was found"),))


@pytest.mark.parametrize(("passed", "status", "word"), [(True, 0, "passed"), (False, 1, "FAILED")])
def test_the_report_and_the_status_agree(
    passed: bool, status: int, word: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(command, "rehearse", lambda plan, options, tell: report(passed))
    assert main(["rehearse", str(REFERENCE_FILE)]) == status
    printed = capsys.readouterr().out
    assert f"{word}  it holds  what was found" in printed
    assert "1,500" in printed
    assert main(["rehearse", str(REFERENCE_FILE), "--json"]) == status
    assert json.loads(capsys.readouterr().out)["passed"] is passed


def test_options_reach_the_rehearsal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    seen: list[Any] = []

    def rehearse(plan: Any, options: Any, tell: Any) -> Report:
        seen.append(options)
        tell("a step")
        return report(True)

    monkeypatch.setattr(command, "rehearse", rehearse)
    arguments = ["--engine", "mock", "--port", "8123", "--timeout", "5", "--plant", "kv-role"]
    arguments += ["--lose", "decode-node", "--lose", "ingress-replica", "--hold"]
    assert main(["rehearse", str(REFERENCE_FILE), *arguments]) == 0
    (options,) = seen
    assert (options.engine, options.port, options.timeout_seconds, options.plant) == ("mock", 8123, 5.0, "kv-role")
    assert options.lose == ("decode-node", "ingress-replica")
    assert options.hold
    assert "s  a step" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["99999", "0", "-1", "x", "²"])
def test_what_is_no_port_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rehearse", str(REFERENCE_FILE), f"--port={text}"])
    assert ended.value.code == 2
    assert f"'{text}' is no TCP port, 1 to 65535" in capsys.readouterr().err


@pytest.mark.parametrize("text", ["nan", "0", "-5", "inf", "x"])
def test_what_is_no_duration_is_refused(text: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["rehearse", str(REFERENCE_FILE), f"--timeout={text}"])
    assert ended.value.code == 2
    assert f"'{text}' is no positive number of seconds" in capsys.readouterr().err


def test_a_specification_with_errors_is_not_rehearsed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "bad.yaml").write_text("name: a\n")
    assert main(["rehearse", str(tmp_path / "bad.yaml")]) == 1
    assert "PD" in capsys.readouterr().err


def test_a_port_in_use_ends_it_before_anything_starts(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert main(["rehearse", str(REFERENCE_FILE), "--engine", "mock", "--port", str(port)]) == 1
    assert f"port {port} of 127.0.0.1 is in use" in capsys.readouterr().err


def test_a_missing_engine_ends_it_with_the_command_that_builds_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CONSTRUCTS_PD_ENGINE", str(tmp_path))
    assert main(["rehearse", str(REFERENCE_FILE)]) == 1
    assert "build it with `make rehearse-environment`" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("error", "is_clean"), [(RehearsalError("it broke", "mend it"), True), (LeftBehindError("it died", "look"), False)]
)
def test_only_what_is_clean_is_called_clean(
    error: RehearsalError, is_clean: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(plan: Any, options: Any, tell: Any) -> Report:
        raise error

    monkeypatch.setattr(command, "rehearse", broken)
    assert main(["rehearse", str(REFERENCE_FILE)]) == 1
    printed = capsys.readouterr().err
    assert f"the rehearsal failed: {error}" in printed
    assert ("Every process has ended" in printed) is is_clean


def test_losses_are_printed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    endings = {"answered": 40, "status 500": 2}
    survived = Survival("decode-node", 42, endings, {"status 500": "it is gone"}, 31.5, 12.0, 30.2, True, 0, 0)
    never = replace(survived, loss="prefill-node", replaced_seconds=None)
    found = replace(report(True), survived=(survived, never))
    monkeypatch.setattr(command, "rehearse", lambda plan, options, tell: found)
    assert main(["rehearse", str(REFERENCE_FILE)]) == 0
    printed = capsys.readouterr().out
    assert "decode-node was lost" in printed
    assert re.search(r"^answered +40$", printed, re.MULTILINE)
    assert re.search(r"^seconds until every replica ran again +31\.5$", printed, re.MULTILINE)
    assert re.search(r"^seconds until every replica ran again +not in time$", printed, re.MULTILINE)
    assert "  status 500: it is gone" in printed


def test_too_little_memory_ends_it(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("constructs_pd.rehearsal.rehearse.needed_gib", lambda *facts: 1e6)
    assert main(["rehearse", str(REFERENCE_FILE), "--engine", "mock"]) == 1
    assert "takes about 1000000.0 GiB of memory" in capsys.readouterr().err


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_signals_end_it(
    number: signal.Signals, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(plan: Any, options: Any, tell: Any) -> Report:
        signal.raise_signal(number)
        return report(True)

    before = signal.getsignal(number)
    monkeypatch.setattr(command, "rehearse", interrupted)
    assert main(["rehearse", str(REFERENCE_FILE)]) == 130
    assert "interrupted" in capsys.readouterr().err
    assert signal.getsignal(number) is before
