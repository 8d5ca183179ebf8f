"""The command line, `cdk8s synth` and `cdk synth` say the same of a specification."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from constructs_pd import Finding, Severity
from constructs_pd.findings import render
from support.command_line import command
from support.processes import python
from support.specs import EXISTING_FILE, ROOT

APPS = {"cdk8s": "apps/k8s_app.py", "cdk": "apps/aws_app.py"}
WARNINGS = EXISTING_FILE.read_text(encoding="utf-8").split("acknowledge:")[0].replace('"1.35"', '"1.33"')
BAD = ROOT / "tests" / "data" / "bad_specs"
QUIET = {"CDK_DISABLE_VERSION_CHECK": "true", "CDK_DISABLE_CLI_TELEMETRY": "true", "AWS_EC2_METADATA_DISABLED": "true"}


def synthesized(cli: str, specification: Path, folder: Path) -> tuple[int, str]:
    """Run `cdk8s synth` or `cdk synth`, and return its status and everything that it says."""
    node = Path(sys.executable).with_name("node")
    program = [str(node), str(ROOT / "node_modules" / ".bin" / cli), "synth"]
    done = subprocess.run(
        [*program, "--app", f"{sys.executable} {APPS[cli]}", "--output", str(folder / cli)],
        cwd=ROOT,
        env={**os.environ, **QUIET, "JSII_NODE": str(node), "CONSTRUCTS_PD_SPEC": str(specification)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=300,
    )
    return done.returncode, done.stdout


def findings_of(specification: Path) -> list[Finding]:
    data = json.loads(command("plan", str(specification), "--json").out)["findings"]
    return [Finding(**{**finding, "severity": Severity(finding["severity"])}) for finding in data]


@pytest.mark.parametrize("cli", APPS)
def test_warnings(cli: str, tmp_path: Path) -> None:
    specification = tmp_path / "spec.yaml"
    specification.write_text(WARNINGS, encoding="utf-8")
    printed = render(findings_of(specification))
    codes = {line.split()[1] for line in printed.splitlines() if " warning " in line}
    assert codes == {"PD115", "PD206", "PD403", "PD412/vllm-52234"}
    assert f"{printed}\n" in command("plan", str(specification)).out
    status, said = synthesized(cli, specification, tmp_path)
    assert status == 0, said
    assert f"{printed}\n" in said


@pytest.mark.parametrize("cli", APPS)
def test_errors(cli: str, tmp_path: Path) -> None:
    specification = BAD / "five-mistakes.yaml"
    done = command("plan", str(specification))
    assert done.status == 1
    assert render(findings_of(specification)) in done.err
    status, said = synthesized(cli, specification, tmp_path)
    assert status != 0
    assert done.err in said


@pytest.mark.parametrize("app", APPS.values())
@pytest.mark.parametrize("name", ["empty", "three-mistakes-of-three-kinds"])
def test_an_app_alone_says_nothing_else(app: str, name: str) -> None:
    specification = BAD / f"{name}.yaml"
    done = python(app, CONSTRUCTS_PD_SPEC=str(specification))
    assert (done.returncode, done.stdout, done.stderr) == (1, "", command("plan", str(specification)).err)
