"""Workloads for tests: the example, changed where a test says so."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from constructs_pd.planning.performance.workload import Workload
from support.specs import ROOT, changed

WORKLOAD_FILE = ROOT / "apps" / "workload.yaml"


def workload_data() -> dict[str, Any]:
    """Return the example as plain data."""
    data: dict[str, Any] = yaml.safe_load(WORKLOAD_FILE.read_text(encoding="utf-8"))
    return data


def changed_workload(changes: dict[str, Any]) -> dict[str, Any]:
    """Return the example with other values at dotted paths; prices of types that it then ignores are left out."""
    data = changed(workload_data(), changes)
    if "prices_per_hour" not in changes:
        prices = data["prices_per_hour"]
        data["prices_per_hour"] = {name: prices[name] for name in prices if name in data["instance_types"]}
    return data


def workload_with(changes: dict[str, Any] | None = None) -> Workload:
    """Return the changed example, read."""
    return Workload.model_validate(changed_workload(changes or {}))


def workload_file(folder: Path, changes: dict[str, Any] | None = None) -> Path:
    """Write the changed example, and return its path."""
    path = folder / "workload.yaml"
    path.write_text(yaml.safe_dump(changed_workload(changes or {}), sort_keys=False), encoding="utf-8")
    return path
