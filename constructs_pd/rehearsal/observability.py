"""Traces and logs in a rehearsal: the files of the pods' volume, and variables that lead to them here."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from constructs_pd.manifests.observability import observability_files
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.observability import FOLDER, is_loopback

_FILES: Final = "observability"
_ENDPOINT: Final = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"
_OF_TRACES: Final = ("OTEL_", "RAY_SERVE_TRACING_")
_MODULES: Final = "PYTHONPATH"


def write_observability_files(plan: DeploymentPlan, folder: Path) -> None:
    """Write them into a rehearsal's folder."""
    for name, text in observability_files(plan).items():
        path = folder / _FILES / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")


def local_variables(of_pod: Mapping[str, str], of_engine: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return a raylet's variables: its pod's, with paths of this machine, and over them the engine's.

    A collector that is not on this machine gets nothing: what it is told stands for a real request.
    """
    sends = is_loopback(of_pod.get(_ENDPOINT, ""))
    found = {
        name: value.replace(FOLDER, str(folder / _FILES))
        for name, value in of_pod.items()
        if sends or not name.startswith(_OF_TRACES)
    }
    modules = [variables[_MODULES] for variables in (found, of_engine) if _MODULES in variables]
    return {**found, **of_engine, **({_MODULES: os.pathsep.join(modules)} if modules else {})}
