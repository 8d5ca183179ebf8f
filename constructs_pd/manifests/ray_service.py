"""The spec of a RayService: the Serve application on a cluster of its own."""

from __future__ import annotations

from typing import Any

from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from constructs_pd.manifests.serve_config import serve_config_v2
from constructs_pd.planning.deployment_plan import DeploymentPlan


def ray_service_annotations(plan: DeploymentPlan) -> dict[str, str]:
    """Return the annotations that the operator reads."""
    if plan.initializing_timeout_seconds is None:
        return {}
    return {"ray.io/initializing-timeout": str(plan.initializing_timeout_seconds)}


def ray_service_spec(plan: DeploymentPlan) -> dict[str, Any]:
    """Return the spec, cluster included."""
    return {
        "upgradeStrategy": {"type": plan.upgrade_strategy},
        # The head has no replica and little CPU; client traffic goes to the workers' proxies.
        "excludeHeadPodFromServeSvc": True,
        "serveConfigV2": serve_config_v2(plan),
        "rayClusterConfig": ray_cluster_spec(plan),
    }
