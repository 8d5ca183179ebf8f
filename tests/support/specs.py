"""Specifications for tests: the reference deployment, changed where a test says so."""

from __future__ import annotations

from copy import deepcopy
from pathlib import Path
from typing import Any

import yaml

from constructs_pd import DeploymentPlan, DeploymentSpec, plan

ROOT = Path(__file__).parents[2]
REFERENCE_FILE = ROOT / "apps" / "reference.yaml"

# What a user adds to speak about an instance type that the catalogue lacks.
FOUR_GPU_ROW = {
    "instance_type": "g6.12xlarge",
    "gpu": {"name": "L4", "count": 4, "memory_mib": 22888, "ray_accelerator_type": "L4", "gpudirect_rdma": None},
    "efa": {"interfaces": 1, "network_cards": 1, "bandwidth_gbps": 40},
    "vcpus": 48,
    "memory_mib": 196608,
    "allocatable_cpu_millicores": 47810,
    "allocatable_memory_mib": 178933,
    "source": "a test",
    "date": "2026-08-21",
}


def reference_data() -> dict[str, Any]:
    """Return the reference specification as plain data, new each time."""
    data: dict[str, Any] = yaml.safe_load(REFERENCE_FILE.read_text(encoding="utf-8"))
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
            place[last] = value
    return data


def spec_with(changes: dict[str, Any] | None = None) -> DeploymentSpec:
    """Return the reference specification with values at dotted paths; None removes a field."""
    return DeploymentSpec.model_validate(changed(reference_data(), changes or {}))


def plan_with(changes: dict[str, Any] | None = None) -> DeploymentPlan:
    """Return the plan of the changed reference specification."""
    return plan(spec_with(changes))


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
        "endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    },
    "gpu-without-a-ray-name": {
        "custom_instances": [
            {**FOUR_GPU_ROW, "gpu": {**FOUR_GPU_ROW["gpu"], "ray_accelerator_type": None}}  # type: ignore[dict-item]
        ],
        "prefill": {"instance_type": "g6.12xlarge"},
        "decode": {"instance_type": "g6.12xlarge"},
    },
}
