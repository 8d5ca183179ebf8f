"""Environment variables of the Ray containers."""

from __future__ import annotations

from typing import Any

from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan
from constructs_pd.planning.spec_pods import SecretReference


def head_environment(plan: DeploymentPlan) -> list[dict[str, Any]]:
    """Return the head's variables: it must see no GPU, wherever it runs."""
    return _as_list(
        {
            # An image built for CUDA sees every GPU of a node unless told otherwise, and the head would offer them.
            "NVIDIA_VISIBLE_DEVICES": "void",
            **plan.head.environment,
            **_from_secrets(plan.head.secret_environment),
            **_shared(plan),
        }
    )


def worker_environment(plan: DeploymentPlan, phase: PhasePlan) -> list[dict[str, Any]]:
    """Return a phase's variables.

    `VLLM_NIXL_SIDE_CHANNEL_PORT` is deliberately absent: set for a whole pod it switches off Ray's offset per
    rank, and two engines collide (Ray 2.58.0 nixl.py).
    """
    pod_ip = {"fieldRef": {"fieldPath": "status.podIP"}}
    return _as_list(
        {
            **phase.environment,
            **_from_secrets(phase.secret_environment),
            # vLLM's own default for the side channel is localhost, which the other node cannot reach.
            "VLLM_HOST_IP": pod_ip,
            "VLLM_NIXL_SIDE_CHANNEL_HOST": pod_ip,
            **_shared(plan),
        }
    )


def _shared(plan: DeploymentPlan) -> dict[str, Any]:
    shared: dict[str, Any] = {
        "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S": str(plan.timeouts.node_drain_seconds),
        # Ray's router waits so long for the first byte of an answer; of one that is not streamed, for all of it.
        "RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT": str(plan.timeouts.generation_seconds),
    }
    if plan.model_cache is not None:
        shared["HF_HOME"] = f"{plan.model_cache.mount_path}/huggingface"
    if plan.hugging_face_token is not None:
        shared["HF_TOKEN"] = value_from_secret(plan.hugging_face_token)
    return shared


def value_from_secret(reference: SecretReference) -> dict[str, Any]:
    """Return the `valueFrom` of a value that stays in a Secret."""
    return {"secretKeyRef": {"key": reference.key, "name": reference.secret_name}}


def _from_secrets(variables: dict[str, SecretReference]) -> dict[str, Any]:
    return {name: value_from_secret(reference) for name, reference in variables.items()}


def _as_list(variables: dict[str, Any]) -> list[dict[str, Any]]:
    return [
        {"name": name, "value": value} if isinstance(value, str) else {"name": name, "valueFrom": value}
        for name, value in sorted(variables.items())
    ]
