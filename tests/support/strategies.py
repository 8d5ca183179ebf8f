"""Specifications of every kind for property tests: most are sound, many are not."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from support.specs import AMI_ID, FOUR_GPU_ROW, IMAGE_ROW, MODEL_ROW, POD
from support.strategies_rows import CATALOG


def sometimes(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Return values that are often absent, which is None."""
    return st.none() | strategy


def without_none(fields: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that are there."""
    return {name: value for name, value in fields.items() if value is not None}


NAMES = st.from_regex(r"[a-z]([a-z0-9-]{0,44}[a-z0-9])?", fullmatch=True) | st.text(max_size=50)
SIZES = st.sampled_from([1, 2, 4, 8]) | st.integers(1, 16)
ENGINE_ARGS = st.dictionaries(
    st.sampled_from(["block_size", "seed", "enable_prefix_caching", "pipeline_parallel_size", "typo"]),
    st.sampled_from([1, 16, 32, True, False]),
    max_size=2,
)
RESERVATION = {"id": "cr-0123456789abcdef0", "availability_zone": "us-west-2a", "instance_count": 4}
PODS = st.sampled_from([{}, POD, {"environment": {"VLLM_API_KEY": "x"}}, {"labels": {"ray.io/group": "x"}}])

# Unpinned, and with fewer requests than replicas.
_GATEWAY = {"api_keys_secret": {"secret_name": "keys"}, "image": "haproxy:latest", "concurrent_requests": 1}

# Sound ones, and some that promise what they do not keep.
ENDPOINTS: list[dict[str, Any]] = [
    {},
    {"exposure": "internal_alb"},
    {"conformance_job": True},
    {"exposure": "internet_alb"},
    {"exposure": "internal_alb", "balancer": {"host": "llm.example.com", "tls_policy": "ELBSecurityPolicy-2016-08"}},
    {"balancer": {"access_logs": {"bucket": "logs"}}},
    {"longest_generation_seconds": 3540, "idle_timeout_seconds": 60},
    {"gateway": _GATEWAY},
]

clusters = st.fixed_dictionaries(
    {
        "other_zones": st.lists(
            st.sampled_from(["us-west-2b", "usw2-az2", "use1-az3", "cn-north-1b", "nowhere", ""]),
            min_size=1,
            max_size=2,
        ),
        "vpc_cidr": st.sampled_from(["10.0.0.0/16", "10.0.0.0/20", "10.0.0.0/33", "10.0.0.1/32", "999.0.0.0/16"]),
        "public_access_cidrs": st.lists(
            st.sampled_from(["0.0.0.0/0", "10.0.0.1/8", "999.0.0.0/99"]), max_size=2, unique=True
        ),
        "system_nodes": st.fixed_dictionaries({"instance_type": st.sampled_from(["m7i.xlarge", "g6.8xlarge"])}),
        "addon_versions": st.sampled_from([{}, {"coredns": "v1.14.6-eksbuild.4"}]),
    }
)

phases = st.fixed_dictionaries(
    {
        "instance_type": st.sampled_from([*CATALOG.instances, "own.1", "g6.xlarge"]),
        "replicas": st.integers(1, 4),
        "tensor_parallel": sometimes(SIZES),
        "concurrent_requests": sometimes(st.integers(1, 100_000)),
        "max_num_seqs": sometimes(st.integers(1, 512)),
        "max_num_batched_tokens": sometimes(st.integers(1, 16384)),
        "gpu_memory_utilization": sometimes(st.floats(0.01, 1)),
        "enforce_eager": st.booleans(),
        "engine_args": ENGINE_ARGS,
        "max_nodes": sometimes(st.integers(1, 8)),
        "pod": PODS,
        "capacity": sometimes(st.sampled_from(["reservation", "capacity_block"])),
        "reservation": sometimes(st.just(RESERVATION)),
        "ami_id": sometimes(st.just(AMI_ID)),
        "ami_driver_branch": sometimes(st.sampled_from([570, 595])),
    }
).map(without_none)

specifications = st.fixed_dictionaries(
    {
        "name": NAMES,
        "namespace": st.sampled_from(["default", "inference", "Not A Namespace"]),
        "region": st.sampled_from(["us-west-2", "af-south-1", "cn-north-1", "us-gov-west-1"]),
        "availability_zone": st.sampled_from(["us-west-2a", "usw2-az1", "af-south-1b", "cn-north-1a", "nowhere"]),
        "model": st.fixed_dictionaries(
            {
                "source": st.sampled_from([*CATALOG.models, "acme/own-7b", "nobody/nothing"]),
                "max_model_len": sometimes(st.integers(1, 300_000)),
                "kv_cache_dtype": st.sampled_from(["auto", "fp8"]),
            }
        ).map(without_none),
        "prefill": phases,
        "decode": phases,
        "image": st.fixed_dictionaries(
            {
                "tag": st.sampled_from(["serve-llm-cuda-v1.0.0", "own-1.0.0", "latest"]),
                "registry": st.sampled_from(["private", "public"]),
            }
        ),
        "kubernetes_version": st.sampled_from(["1.31", "1.33", "1.35", "1.36"]),
        "hugging_face_token": sometimes(st.just({"secret_name": "hub"})),
        "model_cache": sometimes(
            st.sampled_from(
                [{"claim_name": "cache", "mount_path": "/mnt/cache"}, {"claim_name": "cache", "storage": "efs"}]
            )
        ),
        "eks_cluster": sometimes(clusters),
        "network_policy": sometimes(
            st.sampled_from(
                [{}, {"balancer_cidrs": ["999.0.0.0/8"]}, {"egress_cidrs": []}, {"redis_namespaces": ["cache"]}]
            )
        ),
        "monitoring": sometimes(
            st.sampled_from(
                [{}, {"rules": False}, {"scraping": "annotations", "labels": {"a": "b"}}, {"dcgm_exporter": True}]
            )
        ),
        "slo": sometimes(
            st.sampled_from(
                [
                    {"ttft_p95_seconds": 0.01},
                    {"ttft_p95_seconds": 2.0, "itl_p95_seconds": 0.05, "availability": 0.999},
                    {"ttft_p95_seconds": 0.1, "ttft_decode_seconds": 0.1, "availability": 0.6},
                ]
            )
        ),
        "tracing": sometimes(
            st.sampled_from(
                [
                    {"otlp_endpoint": "http://collector:4317"},
                    {"otlp_endpoint": "https://collector:4318", "protocol": "http"},
                    {"otlp_endpoint": "http://127.0.0.1:4317"},
                ]
            )
        ),
        "logs": st.sampled_from([{}, {"encoding": "json", "requests": True}]),
        "ray_authentication": st.sampled_from(["none", "token"]),
        "gcs_fault_tolerance": sometimes(st.just({"redis_address": "redis:6379"})),
        "traffic": sometimes(
            st.sampled_from(
                [
                    {"requests_per_second": 1.0, "prompt_tokens": 100},
                    {"requests_per_second": 1e6, "prompt_tokens": 100_000_000},
                ]
            )
        ),
        "upgrade": st.sampled_from([{}, {"strategy": "new_cluster"}]),
        "single_pod_budget": st.sampled_from(["block", "none"]),
        "endpoint": st.sampled_from(ENDPOINTS),
        "drain_seconds": sometimes(st.integers(45, 3600)),
        "custom_instances": st.just([{**FOUR_GPU_ROW, "instance_type": "own.1"}]),
        "custom_models": st.just([MODEL_ROW]),
        "custom_images": st.just([IMAGE_ROW]),
    }
).map(without_none)
