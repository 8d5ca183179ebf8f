"""The Ray cluster: head, one worker group per phase, and what protects them."""

from __future__ import annotations

import cdk8s_plus_28 as kplus
from cdk8s import ApiObject, ApiObjectMetadata, Size
from constructs import Construct

from constructs_pd.composition import require_plan
from constructs_pd.k8s.composition import already_adopted, changed_before_adoption, require_unique_in_app
from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.k8s.network_policy import network_policy
from constructs_pd.manifests.observability import observability_files
from constructs_pd.manifests.ray_cluster import ray_cluster_spec
from constructs_pd.planning.deployment_plan import BudgetPlan, DeploymentPlan


class RayLlmCluster(Construct):
    """A Ray cluster whose prefill and decode pods stand on separate GPU nodes.

    Alone it emits a `RayCluster`. When a `PrefillDecodeService` adopts it, the service emits a `RayService` that
    contains this cluster, and no `RayCluster` is emitted; `ApiObject.of(cluster)` is then that RayService. In both
    cases it owns the ServiceAccount of the pods, the disruption budgets, the network policies of its namespace, the
    files that traces and logs need, and the claim of a model cache that is made for it.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.

    Attributes:
        plan: The plan that this cluster renders.

    Raises:
        PlanError: PD504, the app has another cluster of this name, in whatever namespace.
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_unique_in_app(self)
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
        self._claim()
        self._observability()
        self._resource = custom_resource(
            self,
            "Resource",
            api_version="ray.io/v1",
            kind="RayCluster",
            metadata=ApiObjectMetadata(name=plan.name, namespace=plan.namespace, labels=plan.labels),
            spec=ray_cluster_spec(plan),
        )
        self._as_rendered = self._resource.to_json()
        for budget in plan.budgets:
            self._budget(budget)
        for policy in plan.network_policies:
            if policy.namespace == plan.namespace:
                network_policy(self, plan, policy)

    def adopt(self, service: Construct) -> None:
        """Hand the cluster over to a service, which from now on emits it as a part of itself.

        Raises:
            PlanError: Another service has adopted the cluster (PD502), or its RayCluster was patched, which would be
                lost (PD503).
        """
        if self._adopter is not None:
            raise already_adopted(service, self, self._adopter)
        if self._resource.to_json() != self._as_rendered:
            raise changed_before_adoption(service, self)
        self._adopter = service
        self.node.try_remove_child("Resource")

    def emitted_as(self, resource: ApiObject) -> None:
        """Make the escape hatch of an adopted cluster lead to the object that contains it."""
        self.node.default_child = resource

    def _claim(self) -> None:
        """Claim the model cache's volume where it is made for the deployment."""
        cache, storage = self.plan.model_cache, self.plan.model_cache_storage
        if cache is None or storage is None:
            return
        kplus.PersistentVolumeClaim(
            self,
            "ModelCache",
            metadata=ApiObjectMetadata(name=cache.claim_name, namespace=self.plan.namespace, labels=self.plan.labels),
            access_modes=[kplus.PersistentVolumeAccessMode.READ_WRITE_MANY],
            storage_class_name=storage.storage_class,
            storage=Size.gibibytes(storage.claim_gib),
        )

    def _observability(self) -> None:
        """Bring the files that traces and logs need, where there are any."""
        if (name := self.plan.observability.files_name) is not None:
            kplus.ConfigMap(
                self,
                "Observability",
                metadata=ApiObjectMetadata(name=name, namespace=self.plan.namespace, labels=self.plan.labels),
                data=observability_files(self.plan),
            )

    def _budget(self, budget: BudgetPlan) -> None:
        kplus.k8s.KubePodDisruptionBudget(
            self,
            budget.name,
            metadata=kplus.k8s.ObjectMeta(name=budget.name, namespace=self.plan.namespace, labels=self.plan.labels),
            spec=kplus.k8s.PodDisruptionBudgetSpec(
                min_available=kplus.k8s.IntOrString.from_number(budget.min_available),
                selector=kplus.k8s.LabelSelector(match_labels=budget.selector_labels),
            ),
        )
