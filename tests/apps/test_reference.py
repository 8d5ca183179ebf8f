"""The reference deployment, as `make synth` writes it."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
import yaml
from syrupy.assertion import SnapshotAssertion

from support.processes import ROOT, python


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("reference") / "dist"
    done = python("tools/synth.py", "apps/reference.yaml", "--output", str(output))
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return output


def test_one_readable_file(written: Path, yaml_file: SnapshotAssertion) -> None:
    (manifest,) = written.iterdir()
    assert manifest.name == "qwen35-9b.k8s.yaml"
    text = manifest.read_text(encoding="utf-8")
    kinds = Counter(document["kind"] for document in yaml.safe_load_all(text))
    assert kinds == {
        "Namespace": 1,
        "ServiceAccount": 1,
        "PodDisruptionBudget": 3,
        "RayService": 1,
        "Service": 1,
        "Ingress": 1,
    }
    assert text == yaml_file


def test_every_object_is_there_exactly_once_and_the_namespace_first(written: Path) -> None:
    objects: list[dict[str, Any]] = [
        document for file in written.iterdir() for document in yaml.safe_load_all(file.read_text(encoding="utf-8"))
    ]
    identities = Counter(
        (o["apiVersion"], o["kind"], o["metadata"].get("namespace"), o["metadata"]["name"]) for o in objects
    )
    assert set(identities.values()) == {1}
    assert objects[0]["kind"] == "Namespace"


def test_a_user_can_apply_it_with_nothing_secret_inside(written: Path) -> None:
    text = "".join(file.read_text(encoding="utf-8") for file in written.iterdir())
    assert "kind: Secret" not in text
    assert "secretKeyRef" in text


def test_plain_cdk8s_synth_writes_the_same(written: Path, tmp_path: Path) -> None:
    # Through cdk8s.yaml, whose `python` is found on the PATH.
    here = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{here}:{os.environ['PATH']}", "CDK8S_CHECK_UPGRADE": "false"}
    cli = str(ROOT / "node_modules" / ".bin" / "cdk8s")
    command = [str(here / "node"), cli, "synth", "--output", str(tmp_path / "dist")]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
    assert {file.name: file.read_bytes() for file in (tmp_path / "dist").iterdir()} == {
        file.name: file.read_bytes() for file in written.iterdir()
    }
