"""The operator of the control plane tests may be built from a checkout of a release that has been read."""

from __future__ import annotations

from pathlib import Path

import pytest

from cluster.binaries import operator_source, operator_version
from support.kuberay_releases import LINES_OF


def checkout(folder: Path, version: str) -> Path:
    """Make what is looked at of a checkout of KubeRay."""
    constants = folder / "ray-operator" / "controllers" / "ray" / "utils" / "constant.go"
    constants.parent.mkdir(parents=True)
    constants.write_text(f'\tKUBERAY_VERSION = "{version}"\n', encoding="utf-8")
    (folder / "ray-operator" / "go.mod").touch()
    return folder


@pytest.mark.parametrize("version", LINES_OF)
def test_a_release_that_has_been_read_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("KUBERAY_SOURCE", str(checkout(tmp_path, version)))
    assert operator_source() == tmp_path / "ray-operator"
    assert operator_version() == version


@pytest.mark.parametrize("version", ["v1.8.0", "nightly"])
def test_another_is_refused_with_those_that_have(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    monkeypatch.setenv("KUBERAY_SOURCE", str(checkout(tmp_path, version)))
    with pytest.raises(ValueError, match=r"none of the releases that have been read: v1\.6\.2, v1\.7\.0$"):
        operator_version()


def test_a_folder_that_is_no_checkout_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBERAY_SOURCE", str(tmp_path))
    with pytest.raises(ValueError, match=r"is no checkout of KubeRay: it has no ray-operator/go\.mod"):
        operator_version()
