from __future__ import annotations

import json
import logging
import logging.config
from typing import Any

import pytest
import yaml

from constructs_pd.manifests.observability import observability_files
from constructs_pd.manifests.pods import head_template, worker_template
from constructs_pd.manifests.serve_config import serve_config
from constructs_pd.planning.observability import FOLDER
from support.changes import GATEWAY, TRACING
from support.rendered import whole_deployment
from support.specs import plan_with

TRACES = {"tracing": TRACING}
JSON = {"logs.encoding": "json"}


def pods_of(changes: dict[str, Any]) -> list[dict[str, Any]]:
    plan = plan_with(changes)
    return [template["spec"] for template in (head_template(plan), *(worker_template(plan, p) for p in plan.phases))]


def variables(pod: dict[str, Any]) -> dict[str, Any]:
    return {variable["name"]: variable.get("value") for variable in pod["containers"][0]["env"]}


def test_by_default_there_is_nothing_of_it() -> None:
    plan = plan_with()
    assert observability_files(plan) == {}
    assert "logging_config" not in serve_config(plan)
    assert [manifest for manifest in whole_deployment(plan) if manifest["kind"] == "ConfigMap"] == []
    for pod in pods_of({}):
        assert not [name for name in variables(pod) if name.startswith(("OTEL_", "RAY_SERVE_TRACING_"))]
        assert not [volume for volume in pod["volumes"] if "configMap" in volume]
    for phase in plan.phases:
        assert not {"otlp_traces_endpoint", "enable_log_requests"} & set(phase.engine_arguments)


@pytest.mark.parametrize("changes", [TRACES, JSON, {**TRACES, **JSON}])
def test_the_files_are_mounted_where_the_variables_lead(changes: dict[str, Any]) -> None:
    plan = plan_with(changes)
    (files,) = [manifest for manifest in whole_deployment(plan) if manifest["kind"] == "ConfigMap"]
    assert files["metadata"]["name"] == "qwen35-9b-observability"
    assert files["metadata"]["namespace"] == "inference"
    assert files["data"] == observability_files(plan)
    for pod in pods_of(changes):
        (volume,) = [volume for volume in pod["volumes"] if "configMap" in volume]
        assert volume["configMap"]["name"] == files["metadata"]["name"]
        mounts = [mount for mount in pod["containers"][0]["volumeMounts"] if mount["name"] == volume["name"]]
        assert mounts == [{"name": "observability", "mountPath": FOLDER, "readOnly": True}]


def test_each_kind_of_pod_is_a_service_of_its_own() -> None:
    services = [variables(pod)["OTEL_SERVICE_NAME"] for pod in pods_of(TRACES)]
    assert services == ["qwen35-9b-head", "qwen35-9b-prefill", "qwen35-9b-decode"]


def test_both_engines_and_ray_have_the_same_collector() -> None:
    plan = plan_with({**TRACES, "tracing.protocol": "grpc"})
    told = [phase.engine_arguments["otlp_traces_endpoint"] for phase in plan.phases]
    told += [variables(pod)["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"] for pod in pods_of(TRACES)]
    assert told == ["http://collector.observability:4317"] * 5


def test_ray_samples_unless_the_gateway_does() -> None:
    traced = {**TRACES, "tracing.sample_ratio": 0.25}
    for name in ("RAY_SERVE_TRACING_SAMPLING_RATIO", "OTEL_TRACES_SAMPLER_ARG"):
        assert {variables(pod)[name] for pod in pods_of(traced)} == {"0.250000"}
        assert {variables(pod)[name] for pod in pods_of({**traced, "endpoint.gateway": GATEWAY})} == {"0"}
    gateway = plan_with({**traced, "endpoint.gateway": GATEWAY}).endpoint.gateway
    assert gateway is not None
    assert gateway.sampled_per_million == 250_000


def test_serve_is_told_to_log_json() -> None:
    assert serve_config(plan_with(JSON))["logging_config"] == {"encoding": "JSON"}


def test_vllm_logs_json(capfd: pytest.CaptureFixture[str]) -> None:
    config = json.loads(observability_files(plan_with(JSON))["vllm_logging.json"])
    assert yaml.safe_load(yaml.safe_dump(config)) == config
    logging.config.dictConfig(config)
    logger = logging.getLogger("vllm")
    try:
        logging.getLogger("vllm.v1.engine.async_llm").info("Added request %s.", "chatcmpl-one-0a1b2c3d")
    finally:
        logger.handlers.clear()
        logger.propagate = True
    line = json.loads(capfd.readouterr().out)
    assert (line["message"], line["levelname"]) == ("Added request chatcmpl-one-0a1b2c3d.", "INFO")


def test_both_engines_log_requests_where_that_is_wanted() -> None:
    plan = plan_with({"logs.requests": True})
    assert [phase.engine_arguments["enable_log_requests"] for phase in plan.phases] == [True, True]
    assert observability_files(plan) == {}
