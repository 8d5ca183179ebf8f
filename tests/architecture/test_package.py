"""What is installed: the wheel is typed, holds its data, and its core needs two packages only."""

from __future__ import annotations

import tomllib
import zipfile

import pytest

from support.processes import ROOT, python

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def wheel_files(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("wheel")
    done = python("-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder))
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return {name for name in archive.namelist() if ".dist-info/" not in name}


def test_the_wheel_holds_the_package_and_nothing_else(wheel_files: set[str]) -> None:
    package = ROOT / "constructs_pd"
    expected = {
        str(path.relative_to(ROOT)) for path in package.rglob("*") if path.is_file() and "__pycache__" not in path.parts
    }
    assert wheel_files == expected


@pytest.mark.parametrize(
    "name",
    [
        "py.typed",
        "planning/catalog/data/instances.yaml",
        "conformance/data/deviations.yaml",
        "aws/policies/aws-load-balancer-controller-3.5.0.json",
    ],
)
def test_the_wheel_is_typed_and_brings_its_data(wheel_files: set[str], name: str) -> None:
    assert f"constructs_pd/{name}" in wheel_files


def test_the_core_needs_pydantic_and_yaml_only() -> None:
    assert [requirement.split(">")[0] for requirement in PROJECT["dependencies"]] == ["pydantic", "PyYAML"]
    extras = {"k8s", "aws", "kubectl", "cli", "charts", "conformance", "observability", "all"}
    assert set(PROJECT["optional-dependencies"]) == extras


@pytest.mark.parametrize(
    "name",
    [
        "package-lock.json",
        "requirements/dev.txt",
        "requirements/rehearsal.txt",
        "requirements/uv.txt",
        ".npmrc",
        "pyproject.toml",
    ],
)
def test_no_lock_or_configuration_names_a_host(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not [line for line in text.splitlines() if "://" in line and '"url"' not in line]


def test_every_locked_requirement_has_a_hash() -> None:
    for name in ("dev.txt", "rehearsal.txt", "uv.txt"):
        lines = (ROOT / "requirements" / name).read_text(encoding="utf-8").splitlines()
        for index, line in enumerate(lines):
            if "==" in line:
                assert lines[index + 1].strip().startswith("--hash=sha256:"), line
