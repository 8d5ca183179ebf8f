"""Specifications that must be refused, one file each, with the codes that its first line expects."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest

from constructs_pd import PlanError, Severity, plan_file
from constructs_pd.planning.codes import OTHER_CODES
from constructs_pd.planning.rules import RULES
from support.specs import ROOT

FILES = sorted((ROOT / "tests" / "data" / "bad_specs").glob("*.yaml"))
SECRETS = ("hf_abcdefghijklmnopqrst", "hunter2")


def expected(path: Path) -> list[str]:
    first = path.read_text(encoding="utf-8").splitlines()[0]
    return first.removeprefix("# expect: ").split()


@pytest.fixture(scope="module")
def synth() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "synth.py"))


def test_there_are_enough_of_them_and_they_cover_every_error() -> None:
    assert len(FILES) >= 120
    covered = {code for path in FILES for code in expected(path)}
    severities = {rule.code: rule.severity for rule in RULES} | {code.code: code.severity for code in OTHER_CODES}
    errors = {code for code, severity in severities.items() if severity is Severity.ERROR}
    about_constructs = {code for code in errors if code.startswith("PD5")}
    about_workloads = {"PD007", "PD008", "PD009", "PD010"}
    # A known defect is an error or a warning, each as its row says.
    assert covered == errors - about_constructs - about_workloads | {"PD412"}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_is_refused_with_exactly_these_codes(path: Path) -> None:
    with pytest.raises(PlanError) as caught:
        plan_file(path)
    errors = [finding for finding in caught.value.findings if finding.severity is Severity.ERROR]
    assert [finding.code for finding in errors] == expected(path)
    for finding in errors:
        assert finding.location is not None
        assert re.fullmatch(rf"{re.escape(str(path))}(:\d+)?", finding.location)
        assert finding.message
        assert finding.remedy
        assert finding.source


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_nothing_is_written_and_no_secret_shown(
    path: Path,
    synth: dict[str, Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for folder in ("dist", "cdk.out"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "precious").write_text("as it was", encoding="utf-8")
    monkeypatch.setattr(sys, "argv", ["synth.py", str(path), "--output", str(tmp_path)])
    with pytest.raises(SystemExit) as caught:
        synth["main"]()
    assert caught.value.code == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    for code in expected(path):
        assert code in printed.err
    for secret in SECRETS:
        assert secret not in printed.err
    for folder in ("dist", "cdk.out"):
        assert [(file.name, file.read_text()) for file in (tmp_path / folder).iterdir()] == [("precious", "as it was")]
    assert sorted(file.name for file in tmp_path.iterdir()) == ["cdk.out", "dist"]
