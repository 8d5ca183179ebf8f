"""The reference deployment, as `make synth` writes it."""

from __future__ import annotations

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


def test_cdk8s_yaml_names_the_app(written: Path) -> None:
    config = yaml.safe_load((ROOT / "cdk8s.yaml").read_text(encoding="utf-8"))
    assert config == {"language": "python", "app": "python apps/k8s_app.py", "output": "dist"}
    assert (ROOT / config["app"].split()[1]).is_file()
