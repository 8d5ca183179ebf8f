"""Specifications for tests: the reference deployment in a cluster that exists, changed where a test says so."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from constructs_pd import DeploymentPlan, DeploymentSpec, plan

ROOT = Path(__file__).parents[2]
REFERENCE_FILE = ROOT / "apps" / "reference.yaml"
# The same deployment for a cluster that exists; what tests change where they say nothing of a new one.
EXISTING_FILE = ROOT / "apps" / "existing_cluster.yaml"

# Rows as a user writes them; this one under a name that the catalogue has too.
FOUR_GPU_ROW = {
    "instance_type": "g6.12xlarge",
    "gpu": {
        "name": "L4",
        "count": 4,
        "memory_mib": 22888,
        "compute_capability": "8.9",
        "ray_accelerator_type": "L4",
        "gpudirect_rdma": None,
    },
    "efa": {"interfaces": 1, "network_cards": 1, "bandwidth_gbps": 40},
    "vcpus": 48,
    "memory_mib": 196608,
    "allocatable_cpu_millicores": 47810,
    "allocatable_memory_mib": 178933,
    "source": "a test",
    "date": "2026-08-21",
}

MODEL_ROW = {
    "model": "acme/own-7b",
    "architecture": "LlamaForCausalLM",
    "attention": "full",
    "attention_heads": 32,
    "kv_heads": 8,
    "max_position_embeddings": 8192,
    "gated": False,
    "source": "its config.json",
    "date": "2026-11-29",
}
IMAGE_ROW = {
    "tag": "own-1.0.0",
    "repository": "123456789012.dkr.ecr.us-west-2.amazonaws.com/own",
    "ray_version": "2.58.0",
    "vllm_version": "0.26.0",
    "nixl_version": "1.3.1",
    "cuda_version": "13.0.2",
    "source": "a test",
    "date": "2026-11-29",
}
# What an endpoint on the internet states, and the ways in which its load balancer tells clients from strangers.
CERTIFICATE = "arn:aws:acm:us-west-2:123456789012:certificate/12345678-1234-1234-1234-123456789012"
OIDC = {
    "issuer": "https://login.example.com",
    "authorization_endpoint": "https://login.example.com/authorize",
    "token_endpoint": "https://login.example.com/token",
    "user_info_endpoint": "https://login.example.com/userinfo",
    "secret_name": "login",
}
COGNITO = {
    "user_pool_arn": "arn:aws:cognito-idp:us-west-2:123456789012:userpool/us-west-2_Abc123",
    "user_pool_client_id": "1example23456789",
    "user_pool_domain": "people",
}
JWT = {"issuer": "https://login.example.com", "jwks_endpoint": "https://login.example.com/keys"}
INTERNET: dict[str, Any] = {
    "exposure": "internet_alb",
    "balancer": {
        "host": "llm.example.com",
        "certificate_arn": CERTIFICATE,
        "access_logs": {"bucket": "balancer-logs", "prefix": "llm"},
        "jwt": JWT,
    },
}
AMI_ID = "ami-0123456789abcdef0"
# Everything that a user can add to a pod.
POD = {
    "environment": {"VLLM_LOGGING_LEVEL": "DEBUG"},
    "secret_environment": {"WANDB_API_KEY": {"secret_name": "wandb", "key": "key"}},
    "labels": {"team": "search"},
    "annotations": {"example.com/owner": "search"},
    "priority_class": "serving",
}


def reference_data() -> dict[str, Any]:
    """Return the reference specification as plain data, new each time."""
    data: dict[str, Any] = yaml.safe_load(EXISTING_FILE.read_text(encoding="utf-8"))
    return data


def changed(data: dict[str, Any], changes: dict[str, Any]) -> dict[str, Any]:
    """Return a copy with values at dotted paths; None removes a field."""
    data = deepcopy(data)
    for path, value in changes.items():
        *parents, last = path.split(".")
        place = data
        for parent in parents:
            place = place.setdefault(parent, {})
        if value is None:
            place.pop(last, None)
        else:
            place[last] = deepcopy(value)
    return data


def spec_with(changes: dict[str, Any] | None = None) -> DeploymentSpec:
    """Return the reference specification with values at dotted paths; None removes a field."""
    return DeploymentSpec.model_validate(changed(reference_data(), changes or {}))


def plan_with(changes: dict[str, Any] | None = None) -> DeploymentPlan:
    """Return the plan of the changed reference specification."""
    return plan(spec_with(changes))


def reserved(phase: str, capacity: str = "reservation", **facts: Any) -> dict[str, Any]:
    """Return the changes that put a phase's nodes into a reservation of 4 instances in the reference's zone."""
    reservation = {"id": "cr-0123456789abcdef0", "availability_zone": "us-west-2a", "instance_count": 4}
    return {f"{phase}.capacity": capacity, f"{phase}.reservation": reservation | facts}


# Deployments that differ in what matters to a renderer; each is read by every validator.
VARIANTS: dict[str, dict[str, Any]] = {
    "reference": {},
    "bare": {
        "hugging_face_token": None,
        "model_cache": None,
        "endpoint": None,
        "namespace": None,
        "model.max_model_len": None,
        "model.served_name": None,
    },
    "plain-attention-unequal-tensor-parallel": {
        "name": "qwen3-8b",
        "model": {"source": "Qwen/Qwen3-8B"},
        "prefill": {"instance_type": "g6.8xlarge", "max_num_batched_tokens": 8192},
        "decode": {"instance_type": "p5.48xlarge", "max_num_seqs": 64, "gpu_memory_utilization": 0.9},
    },
    "many-nodes-eight-gpus": {
        "prefill": {"instance_type": "p5.48xlarge", "replicas": 2},
        "decode": {"instance_type": "p5.48xlarge", "replicas": 3},
        "acknowledge": None,
        "availability_zone": "usw2-az1",
        "image.digest": "sha256:" + "0" * 64,
        "gcs_fault_tolerance": {"redis_address": "rediss://redis.cache:6379", "storage_namespace": "qwen"},
        "endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
        "endpoint.conformance_job": True,
    },
    "gpu-without-a-ray-name": {
        "prefill": {"instance_type": "g7.24xlarge", "ami_id": AMI_ID},
        "decode": {"instance_type": "g7.24xlarge", "ami_id": AMI_ID},
    },
    "on-the-internet": {"endpoint": deepcopy(INTERNET)},
    "login-inside": {
        "endpoint": {"exposure": "internal_alb", "balancer": {"certificate_arn": CERTIFICATE, "oidc": OIDC}}
    },
    "capacity-block": {
        "prefill": {"instance_type": "p5en.48xlarge", "replicas": 2},
        "decode": {"instance_type": "p5en.48xlarge", "replicas": 2},
        "availability_zone": "usw2-az2",
        **reserved("prefill", "capacity_block", availability_zone="usw2-az2"),
        **reserved("decode", "capacity_block", availability_zone="usw2-az2"),
    },
    "reserved-many-cards": {
        "prefill": {"instance_type": "p6-b300.48xlarge"},
        "decode": {"instance_type": "p6-b300.48xlarge", "replicas": 3, "min_nodes": 0},
        "model_cache": None,
        "nodes": {"vpc_cni_role": "own", "tags": {"cost-center": "7"}, "ami_release_version": "1.35.2-20261101"},
        **reserved("decode", placement_group="training"),
    },
    "every-option": {
        "prefill.pod": deepcopy(POD),
        "decode.pod": deepcopy(POD),
        "decode.max_nodes": 2,
        "prefill.max_nodes": 2,
        "decode.root_volume_gib": 500,
        "nodes.placement_group": "none",
        "decode.engine_args": {"block_size": 32, "enable_prefix_caching": False},
        "prefill.engine_args": {"block_size": 32, "enable_prefix_caching": False},
        "head": {
            "node_selector": {"pool": "cpu"},
            "tolerations": [{"key": "dedicated", "value": "ray"}, {"key": "other", "effect": "NoExecute"}],
            "memory_gib": 16,
            "pod": deepcopy(POD),
        },
        "image": {"registry": "public", "pull_secrets": ["regcred"]},
        "gcs_fault_tolerance": {
            "redis_address": "redis.cache:6379",
            "redis_username": {"secret_name": "redis", "key": "user"},
            "redis_password": {"secret_name": "redis", "key": "password"},
        },
        "endpoint.gateway": {
            "api_keys_secret": {"secret_name": "api-keys", "key": "clients.txt"},
            "image": f"docker.io/library/haproxy:2.8.25@sha256:{'0' * 64}",
            "pull_secrets": ["regcred"],
            "replicas": 3,
            "requests_per_minute": 100,
            "concurrent_requests": 50,
            "max_body_bytes": 1_048_576,
        },
        "traffic": {"requests_per_second": 2.5, "prompt_tokens": 200},
        "network_policy": {
            "enforced_by": "vpc_cni",
            "client_namespaces": ["applications"],
            "balancer_cidrs": ["10.0.7.0/24", "10.0.8.0/24"],
            "monitoring_namespaces": ["monitoring"],
            "node_local_dns": True,
            "egress_cidrs": ["10.0.0.0/8", "0.0.0.0/0"],
            "credentials": ["pod_identity"],
            "redis_namespaces": ["cache"],
            "collector_namespaces": ["observability"],
        },
        "monitoring": {
            "scraping": "pod_monitors",
            "labels": {"release": "kube-prometheus-stack"},
            "rules": True,
            "runbook_base_url": "https://wiki.example.com/runbooks",
            "dcgm_exporter": True,
            "efa_exporter": {
                "namespace": "monitoring",
                "pod_labels": {"app": "efa-exporter"},
                "port_name": "http-metrics",
            },
            "dashboards": {
                "labels": {"grafana_dashboard": "1"},
                "folder": "Inference",
                "folder_annotation": "grafana_folder",
            },
        },
        "slo": {
            "ttft_p95_seconds": 2.0,
            "ttft_decode_seconds": 0.5,
            "itl_p95_seconds": 0.05,
            "availability": 0.999,
        },
        "tracing": {"otlp_endpoint": "http://collector.observability:4317", "sample_ratio": 0.1},
        "logs": {"encoding": "json", "requests": True},
        "ray_authentication": "token",
        "upgrade": {"strategy": "new_cluster"},
        "single_pod_budget": "none",
        "privileged_workers": True,
        "initializing_timeout_seconds": 7200,
        "labels": {"cost-center": "7"},
        "service_account_annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/model-reader"},
    },
}
