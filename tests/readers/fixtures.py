"""Pytest fixtures for the readers; import them into a conftest.py to use them."""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kuberay_crd_directory() -> Path:
    """Return the directory of KubeRay's CRDs, which are too large to keep a copy of here."""
    directory = os.environ.get("KUBERAY_CRD_DIR")
    if not directory:
        pytest.skip(
            "KUBERAY_CRD_DIR is not set; fill a directory with the CRDs as *.yaml files: "
            "helm show crds kuberay/kuberay-operator --version 1.7.0 > DIRECTORY/kuberay.yaml"
        )
    return Path(directory)
