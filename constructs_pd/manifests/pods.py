"""Pod templates of the Ray head and of the two worker groups."""

from __future__ import annotations

from typing import Any, Final

from constructs_pd.manifests.adapter_check import adapter_check
from constructs_pd.manifests.environment import head_environment, worker_environment
from constructs_pd.manifests.observability import observability_mounts, observability_volumes
from constructs_pd.planning.deployment_plan import DeploymentPlan, HeadPlan, PhasePlan

SHARED_MEMORY_VOLUME: Final = "shared-mem"
MODEL_CACHE_VOLUME: Final = "model-cache"


def head_template(plan: DeploymentPlan) -> dict[str, Any]:
    """Return the head's pod template. Its container must be the first: KubeRay takes that one for Ray's."""
    head, ports = plan.head, plan.ports
    container = {
        "name": "ray-head",
        **image_of(plan),
        "env": head_environment(plan),
        "ports": [
            {"name": "gcs-server", "containerPort": ports.gcs},
            {"name": "dashboard", "containerPort": ports.dashboard},
            # KubeRay makes the serve Service only when the head declares a port of this name.
            {"name": "serve", "containerPort": ports.serve},
            {"name": "metrics", "containerPort": ports.metrics},
        ],
        "resources": {
            "requests": {"cpu": str(head.cpu_request_cores), "memory": f"{head.memory_gib}Gi"},
            "limits": {"cpu": str(head.cpu_limit_cores), "memory": f"{head.memory_gib}Gi"},
        },
        "securityContext": _head_security(plan),
        "volumeMounts": _volume_mounts(plan),
    }
    return {
        "metadata": _metadata(head.pod_labels, head.pod_annotations),
        "spec": {
            **_pod(plan, head.shared_memory_gib, head.priority_class),
            "nodeSelector": head.node_selector,
            **tolerations_of(head),
            "containers": [container],
        },
    }


def worker_template(plan: DeploymentPlan, phase: PhasePlan) -> dict[str, Any]:
    """Return a phase's pod template: one pod takes one whole node of that phase."""
    # Extended resources are allocated from limits; requests must equal them.
    whole_node = {
        "cpu": str(phase.cpu_cores),
        "memory": f"{phase.memory_gib}Gi",
        "nvidia.com/gpu": str(phase.gpus_per_node),
        "vpc.amazonaws.com/efa": str(phase.efa_per_node),
    }
    container = {
        "name": f"ray-{phase.name}",
        **image_of(plan),
        "env": worker_environment(plan, phase),
        "ports": [
            {"name": "serve", "containerPort": plan.ports.serve},
            {"name": "metrics", "containerPort": plan.ports.metrics},
        ],
        "resources": {"requests": whole_node, "limits": whole_node},
        "securityContext": _worker_security(plan),
        "volumeMounts": _volume_mounts(plan),
    }
    return {
        "metadata": _metadata(phase.pod_labels, phase.pod_annotations),
        "spec": {
            **_pod(plan, phase.shared_memory_gib, phase.priority_class),
            "nodeSelector": phase.node_selector,
            "tolerations": [
                {"key": taint.key, "operator": "Equal", "value": taint.value, "effect": taint.effect}
                for taint in phase.nodes.taints
            ],
            "affinity": {"podAntiAffinity": _one_worker_per_node(plan)},
            # The same resources again: of an init container's and the worker's the larger counts, not the sum
            # (Kubernetes documentation, Effective Pod requests and limits, 2026-11-30), the worker is given the init
            # container's devices (kubelet, cm/devicemanager/manager.go, devicesToReuse), and the pod stays Guaranteed.
            "initContainers": [
                {
                    **adapter_check(),
                    **image_of(plan),
                    "resources": {"requests": whole_node, "limits": whole_node},
                    "securityContext": _worker_security(plan),
                }
            ],
            "containers": [container],
        },
    }


def _metadata(labels: dict[str, str], annotations: dict[str, str]) -> dict[str, Any]:
    return {"labels": labels, "annotations": annotations} if annotations else {"labels": labels}


def tolerations_of(head: HeadPlan) -> dict[str, Any]:
    """Return what a pod on the head's nodes tolerates, where that is anything."""
    tolerations = [
        {"key": taint.key, "effect": taint.effect}
        | ({"operator": "Equal", "value": taint.value} if taint.value is not None else {"operator": "Exists"})
        for taint in head.tolerations
    ]
    return {"tolerations": tolerations} if tolerations else {}


def _head_security(plan: DeploymentPlan) -> dict[str, Any]:
    return _security(_file_capabilities(plan))


def _worker_security(plan: DeploymentPlan) -> dict[str, Any]:
    # EFA registers pinned memory. Whether that is enough for GPU memory is disputed: Dynamo runs privileged, AWS's own
    # CI does not, so it is the user's choice.
    if plan.privileged_workers:
        return {"capabilities": {"add": ["IPC_LOCK"]}, "privileged": True}
    return _security(["IPC_LOCK", *_file_capabilities(plan)])


def _security(capabilities: list[str]) -> dict[str, Any]:
    """Return what a container may do, docs/security.md says why. It is root, as the image's user is."""
    added = {"add": sorted(capabilities)} if capabilities else {}
    return {"allowPrivilegeEscalation": False, "capabilities": {**added, "drop": ["ALL"]}}


def _file_capabilities(plan: DeploymentPlan) -> list[str]:
    # Files on a shared volume may be another user's, which root writes by this capability alone.
    return [] if plan.model_cache is None else ["DAC_OVERRIDE"]


def _one_worker_per_node(plan: DeploymentPlan) -> dict[str, Any]:
    """No two workers of this deployment, of whichever phase, share a node."""
    return {
        "requiredDuringSchedulingIgnoredDuringExecution": [
            {
                "labelSelector": {
                    "matchLabels": plan.selector_labels,
                    "matchExpressions": [
                        {
                            "key": plan.role_label,
                            "operator": "In",
                            "values": [phase.selector_labels[plan.role_label] for phase in plan.phases],
                        }
                    ],
                },
                "topologyKey": "kubernetes.io/hostname",
            }
        ]
    }


def image_of(plan: DeploymentPlan) -> dict[str, str]:
    """Return the image of a container, and when it is pulled."""
    # The tag is pinned, so a node that has the image need not pull it again, which takes many minutes.
    return {"image": plan.image, "imagePullPolicy": "IfNotPresent"}


def _pod(plan: DeploymentPlan, shared_memory_gib: int, priority_class: str | None) -> dict[str, Any]:
    volumes: list[dict[str, Any]] = [
        {"name": SHARED_MEMORY_VOLUME, "emptyDir": {"medium": "Memory", "sizeLimit": f"{shared_memory_gib}Gi"}}
    ]
    if plan.model_cache is not None:
        volumes.append(
            {
                "name": MODEL_CACHE_VOLUME,
                "persistentVolumeClaim": {"claimName": plan.model_cache.claim_name},
            }
        )
    volumes += observability_volumes(plan)
    optional: dict[str, Any] = {
        "priorityClassName": priority_class,
        "imagePullSecrets": [{"name": name} for name in plan.image_pull_secrets],
    }
    return {
        **{name: value for name, value in optional.items() if value},
        "serviceAccountName": plan.service_account_name,
        # Ray asks the Kubernetes API nothing while its autoscaler is off.
        "automountServiceAccountToken": False,
        # The container runtime's list of system calls; without it a pod may make any. Ignored where one is privileged.
        "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
        "terminationGracePeriodSeconds": plan.timeouts.termination_grace_seconds,
        "volumes": volumes,
    }


def _volume_mounts(plan: DeploymentPlan) -> list[dict[str, Any]]:
    mounts: list[dict[str, Any]] = [{"name": SHARED_MEMORY_VOLUME, "mountPath": "/dev/shm"}]
    if plan.model_cache is not None:
        mounts.append({"name": MODEL_CACHE_VOLUME, "mountPath": plan.model_cache.mount_path})
    return mounts + observability_mounts(plan)
