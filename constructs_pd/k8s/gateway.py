"""The gateway in front of the Serve proxies."""

from __future__ import annotations

import cdk8s_plus_28 as kplus
from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.k8s.custom_resource import custom_resource
from constructs_pd.k8s.network_policy import network_policy
from constructs_pd.manifests.gateway import (
    gateway_budget_spec,
    gateway_data,
    gateway_deployment_spec,
    gateway_service_spec,
)
from constructs_pd.planning.deployment_plan import DeploymentPlan
from constructs_pd.planning.gateway_plan import GatewayPlan


class Gateway(Construct):
    """HAProxy that asks for API keys, with everything that it needs but its namespace and the keys' Secret.

    The network policy of its pods stands here too: it can only come after their namespace.

    Args:
        scope: The endpoint that it belongs to.
        id: Construct id.
        plan: The plan of the deployment.
        gateway: The gateway in it.
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan, gateway: GatewayPlan) -> None:
        super().__init__(scope, id)
        metadata = ApiObjectMetadata(name=gateway.name, namespace=gateway.namespace, labels=plan.labels)
        account = kplus.ServiceAccount(self, "ServiceAccount", metadata=metadata, automount_token=False)
        files = kplus.ConfigMap(self, "Files", metadata=metadata, data=gateway_data(gateway))
        # The helper for custom resources: plain data, as the pods of a RayCluster are.
        deployment = custom_resource(
            self,
            "Resource",
            api_version="apps/v1",
            kind="Deployment",
            metadata=metadata,
            spec=gateway_deployment_spec(plan, gateway),
        )
        deployment.node.add_dependency(account, files)
        custom_resource(
            self,
            "Service",
            api_version="v1",
            kind="Service",
            metadata=metadata,
            spec=gateway_service_spec(gateway),
        )
        custom_resource(
            self,
            "DisruptionBudget",
            api_version="policy/v1",
            kind="PodDisruptionBudget",
            metadata=metadata,
            spec=gateway_budget_spec(gateway),
        )
        for policy in plan.network_policies:
            if policy.namespace == gateway.namespace:
                network_policy(self, plan, policy)
