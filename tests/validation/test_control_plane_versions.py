"""The control plane tests know every Kubernetes version that a plan allows, and no other."""

from __future__ import annotations

import pytest

from cluster.binaries import COMPONENTS, kubernetes_versions, module_version
from constructs_pd.planning.catalog import load_catalog

VERSIONS = sorted(load_catalog().kubernetes)


def test_all_are_those_that_a_plan_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSIONS", "all")
    assert kubernetes_versions() == VERSIONS
    assert len(VERSIONS) == len(list(COMPONENTS.glob("kubernetes-*")))


@pytest.mark.parametrize("version", VERSIONS)
def test_each_is_built_from_its_own_minor_version(version: str) -> None:
    assert module_version(f"kubernetes-{version}", "k8s.io/kubernetes").startswith(f"v{version}.")


def test_a_version_that_is_named_twice_is_run_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VERSIONS", "1.35, 1.34 1.35")
    assert kubernetes_versions() == ["1.34", "1.35"]


@pytest.mark.parametrize("asked", ["1.31", "ALL", "all,1.35"])
def test_a_version_that_cannot_be_built_is_refused_with_those_that_can(
    monkeypatch: pytest.MonkeyPatch, asked: str
) -> None:
    monkeypatch.setenv("VERSIONS", asked)
    with pytest.raises(ValueError, match=r"VERSIONS names .*; there are 1\.32, .*, or all by itself"):
        kubernetes_versions()
