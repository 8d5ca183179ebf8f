"""The Ray cluster: head, one worker group per phase, and what protects them."""

from __future__ import annotations

import cdk8s_plus_28 as kplus
from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.k8s.composition import already_adopted
from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from constructs_pd.planning.deployment_plan import DeploymentPlan


class RayLlmCluster(Construct):
    """A Ray cluster whose prefill and decode pods stand on separate GPU nodes.

    Alone it emits a `RayCluster`. When a `PrefillDecodeService` adopts it, the service emits a `RayService` that
    contains this cluster, and no `RayCluster` is emitted. In both cases it owns the ServiceAccount of the pods and
    the disruption budgets.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.

    Attributes:
        plan: The plan that this cluster renders.
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id)
        self.plan = plan
        self._adopter: Construct | None = None
        kplus.ServiceAccount(
            self,
            "ServiceAccount",
            metadata=ApiObjectMetadata(
                name=plan.service_account_name,
                namespace=plan.namespace,
                labels=plan.labels,
                annotations=plan.service_account_annotations,
            ),
            automount_token=False,
        )
        custom_resource(
            self,
            "Resource",
            api_version="ray.io/v1",
            kind="RayCluster",
            metadata=self._metadata(plan.name),
            spec=ray_cluster_spec(plan),
        )
        self._budget("head", plan.head.selector_labels, plan.head.min_available)
        for phase in plan.phases:
            self._budget(phase.name, phase.selector_labels, phase.min_available)

    def adopt(self, service: Construct) -> None:
        """Hand the cluster over to a service, which from now on emits it as a part of itself.

        Raises:
            PlanError: PD502, another service has adopted the cluster.
        """
        if self._adopter is not None:
            raise already_adopted(service, self, self._adopter)
        self._adopter = service
        self.node.try_remove_child("Resource")

    def _budget(self, role: str, selector: dict[str, str], min_available: int | None) -> None:
        if min_available is None:
            return
        # An integer: a RayCluster has no scale subresource, so a percentage or maxUnavailable permits no eviction.
        kplus.k8s.KubePodDisruptionBudget(
            self,
            f"{role}-budget",
            metadata=kplus.k8s.ObjectMeta(
                name=f"{self.plan.name}-{role}", namespace=self.plan.namespace, labels=self.plan.labels
            ),
            spec=kplus.k8s.PodDisruptionBudgetSpec(
                min_available=kplus.k8s.IntOrString.from_number(min_available),
                selector=kplus.k8s.LabelSelector(match_labels=selector),
            ),
        )

    def _metadata(self, name: str) -> ApiObjectMetadata:
        return ApiObjectMetadata(name=name, namespace=self.plan.namespace, labels=self.plan.labels)
