"""The Serve application with its two phases."""

from __future__ import annotations

from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.composition import require_kind, require_one_plan, require_plan
from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.k8s.ray_llm_cluster import RayLlmCluster
from constructs_pd.manifests.ray_service import ray_service_annotations, ray_service_spec
from constructs_pd.planning.deployment_plan import DeploymentPlan


class PrefillDecodeService(Construct):
    """One model served by Ray Serve LLM with prefill and decode on separate nodes, as one `RayService`.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.
        cluster: The cluster to serve on, made from the same plan; it becomes a part of the RayService.

    Attributes:
        plan: The plan that this service renders.

    Raises:
        PlanError: The cluster was made from another plan (PD501), already serves another service (PD502), was
            patched before (PD503), or an argument is of another kind (PD520).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan, cluster: RayLlmCluster) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_kind(self, "cluster", cluster, RayLlmCluster)
        require_one_plan(self, plan, cluster)
        cluster.adopt(self)
        resource = custom_resource(
            self,
            "Resource",
            api_version="ray.io/v1",
            kind="RayService",
            metadata=ApiObjectMetadata(
                name=plan.name,
                namespace=plan.namespace,
                labels=plan.labels,
                annotations=ray_service_annotations(plan),
            ),
            spec=ray_service_spec(plan),
        )
        cluster.emitted_as(resource)
        self.node.add_dependency(cluster)
