"""What clients reach: a stable Service, and a load balancer where one is wanted."""

from __future__ import annotations

import cdk8s_plus_28 as kplus
from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.composition import require_kind, require_one_plan, require_plan
from constructs_pd.k8s.composition import require_own_host, require_unique_in_app
from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.k8s.gateway import Gateway
from constructs_pd.k8s.prefill_decode_service import PrefillDecodeService
from constructs_pd.manifests.conformance_job import (
    job_name,
    job_spec,
    suite_data,
    suite_name,
)
from constructs_pd.manifests.load_balancer import ingress_annotations
from constructs_pd.planning.balancer_plan import BalancerPlan, SecretReaderPlan
from constructs_pd.planning.deployment_plan import ConformanceJobPlan, DeploymentPlan


class OpenAIEndpoint(Construct):
    """An OpenAI-compatible endpoint in front of a `PrefillDecodeService`.

    The KubeRay operator creates the Service of the Serve proxies when the application is healthy, and moves it to
    another cluster during an upgrade. This construct gives clients a name of their own for it, and routes a load
    balancer to the plan's one backend. Nothing else of Ray is ever routed: its dashboard is remote code execution.
    Where the plan wants it, a Job checks the endpoint with the conformance suite.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: The plan to render.
        service: The service behind the endpoint, made from the same plan.

    Attributes:
        plan: The plan that this endpoint renders.
        url: Base URL for OpenAI clients inside the cluster.
        balancer_url: Base URL for OpenAI clients of the load balancer, where its DNS name is known.

    Raises:
        PlanError: The service was made from another plan (PD501), the app has another endpoint of the same name
            (PD504), an argument is of another kind (PD520), or another endpoint has the load balancer's host (PD521).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan, service: PrefillDecodeService) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)
        require_kind(self, "service", service, PrefillDecodeService)
        require_one_plan(self, plan, service)
        require_unique_in_app(self)
        require_own_host(self)
        self.url = plan.endpoint.url
        self.balancer_url = plan.endpoint.balancer.url if plan.endpoint.balancer else None
        kplus.Service(
            self,
            "Resource",
            metadata=self._metadata(plan, plan.endpoint.service_name),
            type=kplus.ServiceType.EXTERNAL_NAME,
            external_name=plan.endpoint.external_name,
        )
        if plan.endpoint.gateway is not None:
            Gateway(self, "Gateway", plan=plan, gateway=plan.endpoint.gateway)
        if plan.endpoint.balancer is not None:
            self._ingress(plan, plan.endpoint.balancer)
        if plan.endpoint.conformance_job is not None:
            self._conformance_job(plan, plan.endpoint.conformance_job)
        self.node.add_dependency(service)

    def _ingress(self, plan: DeploymentPlan, balancer: BalancerPlan) -> None:
        # The L1 class: cdk8s-plus would want a Service construct, and Serve's belongs to the operator.
        backend = kplus.k8s.IngressBackend(
            service=kplus.k8s.IngressServiceBackend(
                name=plan.endpoint.backend_service_name,
                port=kplus.k8s.ServiceBackendPort(number=plan.endpoint.backend_port),
            )
        )
        ingress = kplus.k8s.KubeIngress(
            self,
            "Ingress",
            metadata=self._beside_backend(plan, balancer.ingress_name, ingress_annotations(plan, balancer)),
            spec=kplus.k8s.IngressSpec(
                ingress_class_name=balancer.ingress_class_name,
                rules=[
                    kplus.k8s.IngressRule(
                        host=balancer.host,
                        http=kplus.k8s.HttpIngressRuleValue(
                            paths=[kplus.k8s.HttpIngressPath(path="/", path_type="Prefix", backend=backend)]
                        ),
                    )
                ],
            ),
        )
        if balancer.secret_reader is not None:
            ingress.node.add_dependency(*self._secret_reader(plan, balancer.secret_reader))

    def _secret_reader(self, plan: DeploymentPlan, reader: SecretReaderPlan) -> tuple[Construct, Construct]:
        # The controller's own chart leaves Secrets out (clusterSecretsPermissions) and recommends a Role for each. It
        # watches the one Secret by its name.
        role = kplus.k8s.KubeRole(
            self,
            "SecretReader",
            metadata=self._beside_backend(plan, reader.name),
            rules=[
                kplus.k8s.PolicyRule(
                    api_groups=[""],
                    resources=["secrets"],
                    resource_names=[reader.secret_name],
                    verbs=["get", "list", "watch"],
                )
            ],
        )
        binding = kplus.k8s.KubeRoleBinding(
            self,
            "SecretReaderBinding",
            metadata=self._beside_backend(plan, reader.name),
            role_ref=kplus.k8s.RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name=reader.name),
            subjects=[
                kplus.k8s.Subject(
                    kind="ServiceAccount", name=reader.service_account, namespace=reader.service_account_namespace
                )
            ],
        )
        return role, binding

    def _beside_backend(
        self, plan: DeploymentPlan, name: str, annotations: dict[str, str] | None = None
    ) -> kplus.k8s.ObjectMeta:
        return kplus.k8s.ObjectMeta(
            name=name, namespace=plan.endpoint.backend_namespace, labels=plan.labels, annotations=annotations
        )

    def _conformance_job(self, plan: DeploymentPlan, job: ConformanceJobPlan) -> None:
        suite = kplus.ConfigMap(
            self,
            "ConformanceSuite",
            metadata=self._metadata(plan, suite_name(job)),
            binary_data=suite_data(),
            immutable=True,
        )
        metrics = kplus.Service(
            self,
            "DecodeMetrics",
            metadata=self._metadata(plan, job.metrics_service_name),
            # Without an address of its own: its name leads to each decode pod.
            cluster_ip="None",
            ports=[kplus.ServicePort(name="metrics", port=plan.ports.metrics)],
        )
        for key, value in plan.decode.selector_labels.items():
            metrics.select_label(key, value)
        account = self._conformance_account(plan, job)
        # Not the Job of cdk8s-plus 2.5.6: its pods take no podFailurePolicy, node selector, names of pull secrets,
        # seccomp profile of the pod or terminationMessagePolicy.
        resource = custom_resource(
            self,
            "ConformanceJob",
            api_version="batch/v1",
            kind="Job",
            metadata=self._metadata(plan, job_name(plan, job)),
            spec=job_spec(plan, job),
        )
        resource.node.add_dependency(suite, metrics, *account)

    def _conformance_account(self, plan: DeploymentPlan, job: ConformanceJobPlan) -> list[Construct]:
        """Return an account that may read two things: this RayService, and its RayCluster, whose name KubeRay makes."""
        account = kplus.ServiceAccount(
            self, "ConformanceAccount", metadata=self._metadata(plan, job.name_prefix), automount_token=False
        )
        # The L1 classes: the Role of cdk8s-plus knows no resource names, and its binding takes no name.
        metadata = kplus.k8s.ObjectMeta(name=job.name_prefix, namespace=plan.namespace, labels=plan.labels)
        role = kplus.k8s.KubeRole(
            self,
            "ConformanceRole",
            metadata=metadata,
            rules=[
                kplus.k8s.PolicyRule(
                    api_groups=["ray.io"], resources=["rayservices"], resource_names=[plan.name], verbs=["get"]
                ),
                kplus.k8s.PolicyRule(api_groups=["ray.io"], resources=["rayclusters"], verbs=["get"]),
            ],
        )
        binding = kplus.k8s.KubeRoleBinding(
            self,
            "ConformanceRoleBinding",
            metadata=metadata,
            role_ref=kplus.k8s.RoleRef(api_group="rbac.authorization.k8s.io", kind="Role", name=job.name_prefix),
            subjects=[kplus.k8s.Subject(kind="ServiceAccount", name=job.name_prefix, namespace=plan.namespace)],
        )
        return [account, role, binding]

    def _metadata(self, plan: DeploymentPlan, name: str) -> ApiObjectMetadata:
        return ApiObjectMetadata(name=name, namespace=plan.namespace, labels=plan.labels)
