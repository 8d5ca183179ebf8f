"""The spec of a RayCluster: the head and one worker group per phase."""

from __future__ import annotations

from typing import Any, Final

from constructs_pd.manifests.environment import value_from_secret
from constructs_pd.manifests.pods import head_template, worker_template
from constructs_pd.planning.deployment_plan import DeploymentPlan, PhasePlan
from constructs_pd.planning.spec import GcsFaultTolerance

BYTES_PER_GIB: Final = 1024**3


def ray_cluster_spec(plan: DeploymentPlan) -> dict[str, Any]:
    """Return the spec, for a RayCluster or for the `rayClusterConfig` of a RayService."""
    return {
        **_fault_tolerance(plan.gcs_fault_tolerance),
        **_authentication(plan),
        "rayVersion": plan.versions.ray,
        "enableInTreeAutoscaling": False,
        "headGroupSpec": {
            "rayStartParams": {
                "dashboard-host": "0.0.0.0",
                **_ports(plan),
                # The head schedules and serves; no replica may land on it.
                "num-cpus": "0",
                "num-gpus": "0",
                "object-store-memory": str(plan.head.object_store_gib * BYTES_PER_GIB),
            },
            "template": head_template(plan),
        },
        "workerGroupSpecs": [_worker_group(plan, phase) for phase in plan.phases],
    }


def _authentication(plan: DeploymentPlan) -> dict[str, Any]:
    # KubeRay makes a Secret with the token for each RayCluster and gives it to the pods, and sends it itself.
    return {"authOptions": {"mode": "token"}} if plan.ray_authentication == "token" else {}


def _ports(plan: DeploymentPlan) -> dict[str, str]:
    """Return the ports that Ray would choose at random, where no policy could name them."""
    ports = plan.ports
    return {
        "dashboard-agent-grpc-port": str(ports.dashboard_agent_grpc),
        "dashboard-agent-listen-port": str(ports.dashboard_agent),
        "max-worker-port": str(ports.last_worker),
        "min-worker-port": str(ports.first_worker),
        "node-manager-port": str(ports.node_manager),
        "object-manager-port": str(ports.object_manager),
        "runtime-env-agent-port": str(ports.runtime_env_agent),
    }


def _fault_tolerance(redis: GcsFaultTolerance | None) -> dict[str, Any]:
    if redis is None:
        return {}
    options: dict[str, Any] = {"backend": "redis", "redisAddress": redis.redis_address}
    for name, reference in (("redisUsername", redis.redis_username), ("redisPassword", redis.redis_password)):
        if reference is not None:
            options[name] = {"valueFrom": value_from_secret(reference)}
    if redis.storage_namespace is not None:
        options["externalStorageNamespace"] = redis.storage_namespace
    return {"gcsFaultToleranceOptions": options}


def _worker_group(plan: DeploymentPlan, phase: PhasePlan) -> dict[str, Any]:
    return {
        "groupName": phase.name,
        # One pod per engine: a pod without a Serve replica has no proxy and never becomes Ready.
        "replicas": phase.replicas,
        "minReplicas": phase.replicas,
        "maxReplicas": phase.replicas,
        # KubeRay reads CPU, memory and GPUs from the container's limits. Custom resources must stand here and not
        # in rayStartParams: it refuses the two together.
        "resources": {name: str(amount) for name, amount in sorted(phase.ray_resources.items())},
        "rayStartParams": {
            **_ports(plan),
            "object-store-memory": str(phase.object_store_gib * BYTES_PER_GIB),
        },
        "template": worker_template(plan, phase),
    }
