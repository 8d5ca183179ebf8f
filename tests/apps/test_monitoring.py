"""Where the reference app writes monitoring: in folders of its own, and nowhere else."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from constructs_pd import plan_file
from support.new_cluster import stacks_of
from support.processes import python
from support.specs import EXISTING_FILE, REFERENCE_FILE

MONITORED = "\nmonitoring: {%s}\nslo: {ttft_p95_seconds: 2.0}\n"


def synthesized(folder: Path, monitoring: str, stated: str = MONITORED) -> Path:
    specification = folder / "spec.yaml"
    text = EXISTING_FILE.read_text(encoding="utf-8") + (stated % monitoring if stated else "")
    specification.write_text(text, encoding="utf-8")
    done = python("apps/k8s_app.py", CONSTRUCTS_PD_SPEC=str(specification), CDK8S_OUTDIR=str(folder / "dist"))
    assert done.returncode == 0, done.stderr
    return folder / "dist"


def files(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


def test_without_monitoring_nothing_of_it_is_written(tmp_path: Path) -> None:
    assert [name for name in files(synthesized(tmp_path, "", "")) if not name.startswith("charts/")] == [
        "qwen35-9b.k8s.yaml"
    ]


def test_it_stands_in_folders_of_its_own(tmp_path: Path) -> None:
    dist = synthesized(tmp_path, "dcgm_exporter: true")
    assert [name for name in files(dist) if not name.startswith("charts/")] == [
        "monitoring/qwen35-9b-monitoring.k8s.yaml",
        "qwen35-9b.k8s.yaml",
        "rules/qwen35-9b.rules.yaml",
    ]
    # What `kubectl apply -f dist/` reads needs no definitions of the Prometheus operator.
    kinds = {manifest["kind"] for manifest in manifests(dist / "qwen35-9b.k8s.yaml")}
    assert kinds.isdisjoint({"PodMonitor", "PrometheusRule"})
    assert (dist / "charts" / "dcgm-exporter.yaml").read_text(encoding="utf-8").startswith("# helm upgrade --install")
    monitoring = manifests(dist / "monitoring" / "qwen35-9b-monitoring.k8s.yaml")
    assert [manifest["kind"] for manifest in monitoring] == ["PodMonitor", "PodMonitor", "PodMonitor", "PrometheusRule"]
    rules = yaml.safe_load((dist / "rules" / "qwen35-9b.rules.yaml").read_text(encoding="utf-8"))
    assert rules["groups"] == monitoring[-1]["spec"]["groups"]


def test_with_annotations_a_cluster_without_the_operator_accepts_all_of_it(tmp_path: Path) -> None:
    dist = synthesized(tmp_path, "scraping: annotations")
    (rules,) = manifests(dist / "monitoring" / "qwen35-9b-monitoring.k8s.yaml")
    assert rules["kind"] == "ConfigMap"


def test_without_rules_no_rule_file_is_written(tmp_path: Path) -> None:
    dist = synthesized(tmp_path, "rules: false", "\nmonitoring: {%s}\n")
    assert not (dist / "rules").exists()


@pytest.fixture
def workload(tmp_path: Path) -> str:
    specification = tmp_path / "spec.yaml"
    text = REFERENCE_FILE.read_text(encoding="utf-8") + MONITORED % ""
    specification.write_text(text, encoding="utf-8")
    return str(stacks_of(plan_file(specification))["workload"])


def test_the_workload_stack_leaves_it_out(workload: str) -> None:
    assert "RayService" in workload
    assert "PodMonitor" not in workload
    assert "PrometheusRule" not in workload


def manifests(path: Path) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(path.read_text(encoding="utf-8")) if each]
