"""The command line, the cdk8s app and the CDK app say the same of a specification."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from constructs_pd import Finding, Severity
from constructs_pd.findings import render
from support.command_line import command
from support.processes import python
from support.specs import EXISTING_FILE, ROOT

APPS = ("apps/k8s_app.py", "apps/aws_app.py")
WARNINGS = EXISTING_FILE.read_text(encoding="utf-8").split("acknowledge:")[0].replace('"1.35"', '"1.33"')
BAD = ROOT / "tests" / "data" / "bad_specs"


def synthesized(app: str, specification: Path, folder: Path) -> tuple[int, str]:
    """Run an app as its CLI does, and return its status and what it says."""
    done = python(
        app,
        CONSTRUCTS_PD_SPEC=str(specification),
        CDK8S_OUTDIR=str(folder / "dist"),
        CDK_OUTDIR=str(folder / "cdk.out"),
        CDK_VALIDATION="false",
    )
    return done.returncode, done.stderr


def findings_of(specification: Path) -> list[Finding]:
    data = json.loads(command("plan", str(specification), "--json").out)["findings"]
    return [Finding(**{**finding, "severity": Severity(finding["severity"])}) for finding in data]


@pytest.mark.parametrize("app", APPS)
def test_warnings(app: str, tmp_path: Path) -> None:
    specification = tmp_path / "spec.yaml"
    specification.write_text(WARNINGS, encoding="utf-8")
    printed = render(findings_of(specification))
    assert {line.split()[1] for line in printed.splitlines() if " warning " in line} == {"PD115", "PD206", "PD403"}
    assert f"{printed}\n" in command("plan", str(specification)).out
    status, said = synthesized(app, specification, tmp_path)
    assert status == 0
    assert said.startswith(f"{printed}\n")
    # After them the CDK sums up its own report of the same.
    assert said == f"{printed}\n" or app == "apps/aws_app.py"


@pytest.mark.parametrize("app", APPS)
@pytest.mark.parametrize("name", ["five-mistakes", "empty", "three-mistakes-of-three-kinds"])
def test_errors(app: str, name: str, tmp_path: Path) -> None:
    specification = BAD / f"{name}.yaml"
    done = command("plan", str(specification))
    assert done.status == 1
    assert render(findings_of(specification)) in done.err
    assert synthesized(app, specification, tmp_path) == (1, done.err)
