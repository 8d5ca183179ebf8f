"""The specification's types: what they accept, refuse and fill in."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from constructs_pd import Acknowledge, DeploymentSpec
from constructs_pd.planning.catalog.rows import ImageRow, InstanceRow, ModelRow
from constructs_pd.planning.spec_pods import ModelCache, SecretReference
from support.specs import FOUR_GPU_ROW, OIDC, reference_data, spec_with

MINIMAL = {
    "name": "q",
    "region": "us-west-2",
    "availability_zone": "us-west-2a",
    "model": {"source": "Qwen/Qwen3-8B"},
    "prefill": {"instance_type": "g6.8xlarge"},
    "decode": {"instance_type": "g6.8xlarge"},
}


def test_six_fields_are_a_whole_specification() -> None:
    spec = DeploymentSpec.model_validate(MINIMAL)
    assert spec.namespace == "inference"
    assert spec.kubernetes_version == "1.35"
    assert spec.kuberay_version == "1.7.0"
    assert spec.image.tag == "serve-llm-cuda-v1.0.0"
    assert spec.head.node_selector == {"constructs-pd/role": "system"}
    assert spec.endpoint.exposure == "cluster"
    assert spec.endpoint.longest_generation_seconds == 600
    assert spec.endpoint.idle_timeout_seconds is None
    assert spec.drain_seconds is None
    assert (spec.prefill.replicas, spec.prefill.tensor_parallel, spec.prefill.enforce_eager) == (1, None, False)
    assert (spec.hugging_face_token, spec.model_cache, spec.acknowledge) == (None, None, ())


def test_is_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        spec_with().name = "other"


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("name", 5),
        ("region", "us-west"),
        ("region", "us-west-2a"),
        ("kubernetes_version", 1.35),
        ("kubernetes_version", "v1.35"),
        ("availability_zone", ["us-west-2a", "us-west-2b"]),
        ("prefill.replicas", 0),
        ("prefill.replicas", True),
        ("prefill.replicas", "1"),
        ("prefill.replicas", 1.0),
        ("prefill.replicas", 1001),
        ("prefill.tensor_parallel", 0),
        ("prefill.max_num_seqs", -1),
        ("prefill.gpu_memory_utilization", 0.0),
        ("prefill.gpu_memory_utilization", 1.01),
        ("prefill.gpu_memory_utilization", float("nan")),
        ("prefill.enforce_eager", "yes"),
        ("model.source", "qwen3"),
        ("model.source", "s3://bucket/model"),
        ("model.max_model_len", 0),
        ("model.dtype", "float32"),
        ("model.served_name", ""),
        ("model_cache.mount_path", "models"),
        ("model_cache.mount_path", "/"),
        ("model_cache.mount_path", "/models/../etc"),
        ("model_cache.claim_name", "Model Cache"),
        ("endpoint.exposure", "internet"),
        ("endpoint.idle_timeout_seconds", 0),
        ("endpoint.idle_timeout_seconds", 4001),
        ("endpoint.longest_generation_seconds", 0),
        ("endpoint.longest_generation_seconds", 3541),
        ("endpoint.balancer.host", "LLM.example.com"),
        ("endpoint.balancer.host", "localhost"),
        ("endpoint.balancer.host", "*.example.com"),
        ("endpoint.balancer.host", "10.0.0.1"),
        ("endpoint.balancer.host", "a." * 63 + "com"),
        ("endpoint.balancer.certificate_arn", "arn:aws:iam::123456789012:server-certificate/one"),
        ("endpoint.balancer.certificate_arn", "one"),
        ("endpoint.balancer.tls_policy", "TLS 1.2"),
        ("endpoint.balancer.access_logs", {"bucket": "Logs"}),
        ("endpoint.balancer.access_logs", {"bucket": "logs", "prefix": "/a"}),
        ("endpoint.balancer.access_logs", {"bucket": "logs", "prefix": "a/AWSLogs"}),
        ("endpoint.balancer.access_logs", {"bucket": "logs", "prefix": "a,b=c"}),
        ("endpoint.balancer.jwt", {"issuer": "http://example.com", "jwks_endpoint": "https://example.com/keys"}),
        ("endpoint.balancer.oidc", {**OIDC, "client_secret": "x"}),
        ("endpoint.subnet_ids", ["subnet-1"]),
        ("image.digest", "sha256:abc"),
        ("head.node_selector", {}),
        ("head.node_selector", {"a b": "c"}),
        ("head.node_selector", {"a": "c d"}),
        ("drain_seconds", 44),
        ("drain_seconds", 3601),
        ("acknowledge", [{"code": "PD206", "reason": ""}]),
        ("acknowledge", [{"code": "206", "reason": "x"}]),
        ("acknowledge", [{"code": "PD412/", "reason": "x"}]),
        ("acknowledge", [{"code": "PD412/1862", "reason": "x"}]),
        ("acknowledge", [{"code": "PD412/nixl-1862"}]),
        ("custom_instances", [{**FOUR_GPU_ROW, "date": "yesterday"}]),
        ("custom_instances", [{**FOUR_GPU_ROW, "vcpus": 0}]),
        ("hugging_face_token.key", "a/b"),
        ("pipeline_parallel", 2),
        ("prefill.pipeline_parallel", 2),
        ("nodes.ami_release_version", "1.35.2-2026110"),
        ("nodes.ami_release_version", "1.35.2-20261399"),
        ("nodes.ami_release_version", "1.35.2-20260230"),
        ("nodes.ami_release_version", "1.35.2-00000101"),
    ],
)
def test_refuses_values_of_the_wrong_type_range_or_name(path: str, value: Any) -> None:
    with pytest.raises(ValidationError) as caught:
        spec_with({path: value})
    assert caught.value.error_count() == 1


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("prefill.replicas", 1000),
        ("prefill.gpu_memory_utilization", 1.0),
        ("endpoint.idle_timeout_seconds", 4000),
        ("endpoint.longest_generation_seconds", 3540),
        ("endpoint.balancer.host", "llm.example.com"),
        ("endpoint.balancer.access_logs", {"bucket": "logs", "prefix": "a/b"}),
        ("endpoint.balancer.oidc", OIDC),
        ("drain_seconds", 45),
        ("nodes.ami_release_version", "1.35.2-20280229"),
        ("model_cache.mount_path", "/mnt/models"),
        ("head.node_selector", {"eks.amazonaws.com/nodegroup": "system"}),
        ("head.node_selector", {"empty": ""}),
    ],
)
def test_accepts_values_at_the_edge(path: str, value: Any) -> None:
    spec_with({path: value})


def test_a_literal_secret_is_refused_and_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        spec_with({"hugging_face_token": "hf_0123456789abcdefghij"})
    assert "0123456789" not in str(caught.value)


def test_an_unsound_value_is_not_shown() -> None:
    with pytest.raises(ValidationError) as caught:
        SecretReference(secret_name="hf_0123456789abcdefghij")
    assert "0123456789" not in str(caught.value)


def test_every_field_says_what_is_expected_there() -> None:
    models: list[type[BaseModel]] = [
        DeploymentSpec,
        Acknowledge,
        SecretReference,
        ModelCache,
        InstanceRow,
        ModelRow,
        ImageRow,
    ]
    described = 0
    while models:
        model = models.pop()
        for name, field in model.model_fields.items():
            if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
                models.append(field.annotation)
            else:
                assert field.description, f"{model.__name__}.{name}"
                described += 1
    assert described > 50


def test_the_reference_is_awss_sample() -> None:
    data = reference_data()
    assert data["model"]["source"] == "Qwen/Qwen3.5-9B"
    assert {data[phase]["instance_type"] for phase in ("prefill", "decode")} == {"g6.8xlarge"}
    assert data["kubernetes_version"] == "1.35"
