"""What a rehearsal makes of the variables and files of traces and logs."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from constructs_pd.manifests.serve_config import serve_config
from constructs_pd.planning.observability import observability_environment
from constructs_pd.rehearsal.cpu import Machine, llm_config, on_this_machine
from constructs_pd.rehearsal.observability import local_variables, write_observability_files
from support.specs import plan_with, spec_with

JSON = {"logs.encoding": "json"}


def of_pod(endpoint: str) -> dict[str, str]:
    return observability_environment(spec_with({"tracing.otlp_endpoint": endpoint, **JSON}), "decode")


def test_paths_lead_to_files_of_this_machine(tmp_path: Path) -> None:
    write_observability_files(plan_with(JSON), tmp_path)
    found = local_variables(of_pod("http://127.0.0.1:4317"), {"PYTHONPATH": "/site"}, tmp_path)
    own, site = found["PYTHONPATH"].split(os.pathsep)
    assert (Path(own) / "constructs_pd_traces.py").exists()
    assert site == "/site"
    assert Path(found["VLLM_LOGGING_CONFIG_PATH"]).exists()


def test_without_any_there_are_no_files(tmp_path: Path) -> None:
    write_observability_files(plan_with(), tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert local_variables({"A": "1"}, {"PYTHONPATH": "/site"}, tmp_path) == {"A": "1", "PYTHONPATH": "/site"}
    assert local_variables({"A": "1"}, {"A": "2"}, tmp_path) == {"A": "2"}


@pytest.mark.parametrize(("endpoint", "sends"), [("http://127.0.0.1:4317", True), ("http://collector:4317", False)])
def test_only_a_collector_on_this_machine_is_told_anything(tmp_path: Path, endpoint: str, sends: bool) -> None:
    found = local_variables(of_pod(endpoint), {}, tmp_path)
    assert ("RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH" in found) is sends
    assert any(name.startswith("OTEL_") for name in found) is sends
    plan = plan_with({"tracing.otlp_endpoint": endpoint})
    document = on_this_machine(serve_config(plan), Machine(18000, {"prefill": 21000, "decode": 21064}, None))
    for phase in ("prefill", "decode"):
        assert ("otlp_traces_endpoint" in llm_config(document, phase)["engine_kwargs"]) is sends
