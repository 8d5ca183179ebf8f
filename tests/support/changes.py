"""A change of every field of a specification, with what must stand beside it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from constructs_pd.planning.catalog import load_catalog
from constructs_pd.planning.catalog.rows import RolloutRow
from support.specs import CERTIFICATE, COGNITO, FOUR_GPU_ROW, IMAGE_ROW, JWT, MODEL_ROW, OIDC, changed

# With a second release of KubeRay, so that there is another value for kuberay_version too.
BUILT_IN = load_catalog()
KUBERAY = BUILT_IN.kuberay["1.7.0"]
CATALOG = replace(BUILT_IN, kuberay={"1.7.0": KUBERAY, "1.7.1": KUBERAY.model_copy(update={"version": "1.7.1"})})
ROWS = tuple(CATALOG.rollout.values())
Changes = dict[str, Any]

# Rows that take the place of the catalogue's.
OTHER_GPU_ROW = changed(
    FOUR_GPU_ROW,
    {"instance_type": "g6.8xlarge", "gpu.name": "L40S", "gpu.count": 1, "gpu.ray_accelerator_type": "L40S"},
)
PLAIN_ROW = {**MODEL_ROW, "model": "Qwen/Qwen3.5-9B"}
OTHER_IMAGE_ROW = {**IMAGE_ROW, "tag": "serve-llm-cuda-v1.0.0"}
REFERENCE = {"secret_name": "other", "key": "other"}
REDIS = {"gcs_fault_tolerance.redis_address": "redis.cache:6379"}
USERNAME = {**REDIS, "gcs_fault_tolerance.redis_username": {"secret_name": "redis", "key": "user"}}
PASSWORD = {**REDIS, "gcs_fault_tolerance.redis_password": {"secret_name": "redis", "key": "password"}}
# Four GPUs in each phase, and a model whose phases may differ in tensor parallelism.
FOUR_GPUS = {
    "model.source": "Qwen/Qwen3-8B",
    "prefill.instance_type": "g6.12xlarge",
    "decode.instance_type": "g6.12xlarge",
}

P5 = {"prefill.instance_type": "p5.48xlarge", "decode.instance_type": "p5.48xlarge"}
RESERVATION = {
    "id": "cr-0123456789abcdef0",
    "availability_zone": "us-west-2a",
    "instance_count": 4,
    "placement_group": "first",
}
PHASES = ("prefill", "decode")

TLS = {"endpoint.balancer.certificate_arn": CERTIFICATE}
# Another value for every field of a load balancer, by what stands around it.
LOGINS: dict[str, Changes] = {"oidc": OIDC, "cognito": COGNITO, "jwt": JWT}
OTHER_LOGINS: dict[str, Changes] = {
    "oidc": dict.fromkeys(OIDC, "https://other.example.com") | {"secret_name": "other"},
    "cognito": {
        "user_pool_arn": COGNITO["user_pool_arn"] + "4",
        "user_pool_client_id": "other",
        "user_pool_domain": "other",
    },
    "jwt": dict.fromkeys(JWT, "https://other.example.com"),
}

NEW_CLUSTER = {"eks_cluster": {"other_zones": ["us-west-2b"]}}
# Another value for every field of the cluster that is made.
CLUSTER: Changes = {
    "other_zones": ["us-west-2c"],
    "name": "other",
    "vpc_cidr": "10.1.0.0/16",
    "nat_gateways": "per_zone",
    "interface_endpoints": ["ecr.api", "ecr.dkr"],
    "public_access_cidrs": ["8.8.8.8/32"],
    "log_retention_days": 90,
    "system_nodes.instance_type": "m6i.xlarge",
    "system_nodes.count": 3,
    "addon_versions": {"coredns": "v1.14.6-eksbuild.4"},
}

API_KEYS = {"secret_name": "api-keys"}
GATEWAY = {"api_keys_secret": API_KEYS, "image": "docker.io/library/haproxy:2.8.25@sha256:" + "0" * 64}
# Another value for every field of the gateway.
GATEWAY_FIELDS: Changes = {
    "api_keys_secret.secret_name": "other",
    "api_keys_secret.key": "other",
    "image": "docker.io/library/haproxy:2.8.26@sha256:" + "1" * 64,
    "pull_secrets": ["regcred"],
    "replicas": 3,
    "requests_per_minute": 7,
    "concurrent_requests": 7,
    "max_body_bytes": 1024,
}

TRACING = {"otlp_endpoint": "http://collector.observability:4317"}
# Another value for every field of the traces.
TRACING_FIELDS: Changes = {
    "otlp_endpoint": "http://other.observability:4317",
    "protocol": "http",
    "sample_ratio": 1.0,
}

# Another value for every field of the network policies, whose rendering depends on what else there is.
NETWORK_POLICY: Changes = {
    "enforced_by": "vpc_cni",
    "client_namespaces": ["applications"],
    "balancer_cidrs": ["10.1.0.0/24"],
    "monitoring_namespaces": ["monitoring"],
    "operator_namespace": "operators",
    "node_local_dns": True,
    "kubernetes_api_cidrs": ["172.20.0.1/32"],
    "egress_cidrs": ["10.0.0.0/8"],
    "credentials": ["pod_identity"],
    "collector_namespaces": ["other"],
    "collector_cidrs": ["10.3.0.0/24"],
    "redis_cidrs": ["10.2.0.0/24"],
    "redis_namespaces": ["cache"],
}
POLICIES: Changes = {
    "network_policy": {
        "balancer_cidrs": ["10.0.0.0/24"],
        "redis_cidrs": ["10.0.1.0/24"],
        "collector_namespaces": ["observability"],
    },
    "tracing": TRACING,
    "endpoint.conformance_job": True,
    "gcs_fault_tolerance.redis_address": "redis.cache:6379",
}

# Another value for every field of monitoring and of what was promised.
MONITORING: Changes = {
    "scraping": "annotations",
    "labels": {"release": "stack"},
    "rules": False,
    "runbook_base_url": "https://wiki.example.com/runbooks",
    "dcgm_exporter": True,
    "efa_exporter.namespace": "other",
    "efa_exporter.pod_labels": {"app": "efa"},
    "efa_exporter.port_name": "other",
    "dashboards.labels": {"dashboards": "yes"},
    "dashboards.folder": "Inference",
    "dashboards.folder_annotation": "grafana_folder",
}
MONITORED: Changes = {"monitoring": {"efa_exporter": {"namespace": "monitoring"}, "dashboards": {"folder": "Serving"}}}
SLO: Changes = {
    "ttft_p95_seconds": 3.0,
    "ttft_decode_seconds": 0.5,
    "itl_p95_seconds": 0.1,
    "availability": 0.99,
}
PROMISED: Changes = {
    "monitoring": {},
    "slo": {"ttft_p95_seconds": 2.0, "ttft_decode_seconds": 0.25, "itl_p95_seconds": 0.05, "availability": 0.999},
}

TRAFFIC = {"requests_per_second": 1.0, "prompt_tokens": 200}
# Another value for every field of the traffic that need not be stated.
TRAFFIC_FIELDS: Changes = {"output_tokens": 50, "prompt_variation": 0.5, "cached_prompt_fraction": 0.25}
SMALL = {"model.source": "Qwen/Qwen3-0.6B"}

# What must stand in the specification before and after a field is changed.
CONTEXTS: dict[str, Changes] = {
    "prefill.tensor_parallel": FOUR_GPUS,
    "decode.tensor_parallel": {**FOUR_GPUS, "prefill.tensor_parallel": 2},
    "gcs_fault_tolerance.redis_address": REDIS,
    "gcs_fault_tolerance.storage_namespace": REDIS,
    "gcs_fault_tolerance.redis_username.secret_name": USERNAME,
    "gcs_fault_tolerance.redis_username.key": USERNAME,
    "gcs_fault_tolerance.redis_password.secret_name": PASSWORD,
    "gcs_fault_tolerance.redis_password.key": PASSWORD,
    **{f"traffic.{field}": {"traffic": TRAFFIC} for field in (*TRAFFIC, *TRAFFIC_FIELDS)},
    **{f"network_policy.{field}": POLICIES for field in NETWORK_POLICY},
    **{f"monitoring.{field}": MONITORED if "." in field else {"monitoring": {}} for field in MONITORING},
    **{f"slo.{field}": PROMISED for field in SLO},
    **{f"tracing.{field}": {"tracing": TRACING} for field in TRACING_FIELDS},
    "upgrade.strategy": {"prefill.max_nodes": 2, "decode.max_nodes": 2},
    **{f"{phase}.ami_driver_branch": {f"{phase}.ami_id": "ami-0123456789abcdef0"} for phase in PHASES},
    **{f"{phase}.capacity": P5 for phase in PHASES},
    **{f"{phase}.{field}": SMALL for phase in PHASES for field in ("gpu_memory_utilization", "enforce_eager")},
    **{
        f"{phase}.reservation.{field}": {f"{phase}.capacity": "reservation", f"{phase}.reservation": RESERVATION}
        for phase in PHASES
        for field in RESERVATION
    },
    "region": {"availability_zone": "us-west-2a"},
    **{f"endpoint.balancer.{field}": TLS for field in ("host", "tls_policy")},
    **{
        f"endpoint.balancer.{login}.{field}": {**TLS, f"endpoint.balancer.{login}": stated}
        for login, stated in LOGINS.items()
        for field in stated
    },
    "endpoint.balancer.access_logs.prefix": {"endpoint.balancer.access_logs.bucket": "logs"},
    **{f"eks_cluster.{field}": NEW_CLUSTER for field in CLUSTER},
    "model_cache.storage": NEW_CLUSTER,
    **{f"endpoint.gateway.{field}": {"endpoint.gateway": GATEWAY} for field in GATEWAY_FIELDS},
}
PHASE: Changes = {
    "instance_type": "g6e.8xlarge",
    "replicas": 3,
    "tensor_parallel": 2,
    "concurrent_requests": 2,
    "max_num_seqs": 7,
    "max_num_batched_tokens": 8192,
    "gpu_memory_utilization": 0.5,
    "enforce_eager": False,
    "engine_args": {"seed": 7},
    "min_nodes": 0,
    "max_nodes": 5,
    "capacity": "capacity_block",
    "reservation.id": "cr-0123456789abcdef1",
    "reservation.availability_zone": "us-west-2b",
    "reservation.instance_count": 8,
    "reservation.placement_group": "other",
    "root_volume_gib": 300,
    "ami_id": "ami-0123456789abcdef0",
    "ami_driver_branch": 595,
    "single_pod_budget": "none",
}
POD: Changes = {
    "environment": {"VLLM_LOGGING_LEVEL": "DEBUG"},
    "secret_environment": {"WANDB_API_KEY": REFERENCE},
    "labels": {"team": "search"},
    "annotations": {"example.com/owner": "search"},
    "priority_class": "serving",
}
# Another value for every field.
CHANGES: Changes = {
    "name": "other",
    "namespace": "other",
    "region": "us-east-1",
    "availability_zone": "us-west-2b",
    "model.source": "Qwen/Qwen3-8B",
    "model.served_name": "other",
    "model.max_model_len": 512,
    "model.dtype": "bfloat16",
    "model.kv_cache_dtype": "fp8",
    **{f"{phase}.{field}": value for phase in PHASES for field, value in PHASE.items()},
    **{f"{pods}.pod.{field}": value for pods in ("prefill", "decode", "head") for field, value in POD.items()},
    "head.node_selector": {"pool": "cpu"},
    "head.tolerations": [{"key": "dedicated", "value": "ray"}],
    "head.memory_gib": 16,
    "head.single_pod_budget": "none",
    "nodes.placement_group": "none",
    "nodes.ami_release_version": "1.35.2-20261101",
    "nodes.vpc_cni_role": "own",
    "nodes.tags": {"cost-center": "7"},
    **{f"eks_cluster.{field}": value for field, value in CLUSTER.items()},
    "endpoint.exposure": "cluster",
    "endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    "endpoint.longest_generation_seconds": 300,
    "endpoint.idle_timeout_seconds": 900,
    "endpoint.balancer.host": "llm.example.com",
    "endpoint.balancer.certificate_arn": CERTIFICATE,
    "endpoint.balancer.tls_policy": "ELBSecurityPolicy-TLS13-1-3-2021-06",
    "endpoint.balancer.access_logs.bucket": "logs",
    "endpoint.balancer.access_logs.prefix": "llm",
    **{
        f"endpoint.balancer.{login}.{field}": value
        for login, other in OTHER_LOGINS.items()
        for field, value in other.items()
    },
    "endpoint.conformance_job": True,
    **{f"endpoint.gateway.{field}": value for field, value in GATEWAY_FIELDS.items()},
    "image.registry": "public",
    "image.tag": "own-1.0.0",
    "image.digest": "sha256:" + "0" * 64,
    "image.pull_secrets": ["regcred"],
    "kubernetes_version": "1.36",
    "kuberay_version": "1.7.1",
    "hugging_face_token.secret_name": "other",
    "hugging_face_token.key": "other",
    "model_cache.claim_name": "other",
    "model_cache.mount_path": "/other",
    "model_cache.storage": "efs",
    "gcs_fault_tolerance.redis_address": "other.cache:6379",
    "gcs_fault_tolerance.redis_username.secret_name": "other",
    "gcs_fault_tolerance.redis_username.key": "other",
    "gcs_fault_tolerance.redis_password.secret_name": "other",
    "gcs_fault_tolerance.redis_password.key": "other",
    "gcs_fault_tolerance.storage_namespace": "other",
    "traffic.requests_per_second": 2.5,
    **{f"monitoring.{field}": value for field, value in MONITORING.items()},
    **{f"slo.{field}": value for field, value in SLO.items()},
    "traffic.prompt_tokens": 100,
    **{f"traffic.{field}": value for field, value in TRAFFIC_FIELDS.items()},
    "upgrade.strategy": "new_cluster",
    "single_pod_budget": "none",
    **{f"network_policy.{field}": value for field, value in NETWORK_POLICY.items()},
    "ray_authentication": "token",
    **{f"tracing.{field}": value for field, value in TRACING_FIELDS.items()},
    "logs.encoding": "json",
    "logs.requests": True,
    "privileged_workers": True,
    "initializing_timeout_seconds": 7200,
    "labels": {"cost-center": "7"},
    "service_account_annotations": {"eks.amazonaws.com/role-arn": "arn:aws:iam::123456789012:role/reader"},
    "drain_seconds": 700,
    "acknowledge": [{"code": "PD206", "reason": "another"}],
    "custom_instances": [OTHER_GPU_ROW],
    "custom_models": [PLAIN_ROW],
    "custom_images": [OTHER_IMAGE_ROW],
}
# What must change together with a field.
COMPANIONS: dict[str, Changes] = {
    "region": {"availability_zone": "us-east-1a"},
    "image.tag": {"custom_images": [IMAGE_ROW]},
    "tracing.protocol": {"tracing.otlp_endpoint": "http://collector.observability:4318/v1/traces"},
    **{f"{phase}.ami_driver_branch": {f"{phase}.ami_id": "ami-0123456789abcdef0"} for phase in PHASES},
    **{f"{phase}.capacity": {f"{phase}.reservation": RESERVATION} for phase in PHASES},
    **{f"{phase}.reservation.availability_zone": {"availability_zone": "us-west-2b"} for phase in PHASES},
}


def rows_of(field: str) -> list[RolloutRow]:
    return [row for row in ROWS if any(f"{field}.".startswith(f"{named}.") for named in row.fields)]


def with_another(field: str) -> Changes:
    """Return the changes of the reference that give a field its other value, with what must stand beside it."""
    return {**CONTEXTS.get(field, {}), **COMPANIONS.get(field, {}), field: CHANGES[field]}
