"""The namespace of the gateway."""

from __future__ import annotations

from typing import Final

from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.k8s.written_namespace import WrittenNamespace
from constructs_pd.planning.codes import NO_GATEWAY
from constructs_pd.planning.deployment_plan import DeploymentPlan

_RESTRICTED: Final = {"pod-security.kubernetes.io/enforce": "restricted"}
# AWS Load Balancer Controller 3.5.0, docs/deploy/pod_readiness_gate.md: a new pod is ready when the balancer has found
# it healthy, so that an update takes no pod away before.
_READINESS_GATE: Final = {"elbv2.k8s.aws/pod-readiness-gate-inject": "enabled"}


class GatewayNamespace(WrittenNamespace):
    """Creates the namespace of the gateway, beside the deployment's.

    Use it once per namespace, and not at all where the namespace exists already. Nothing in the gateway needs more
    than Pod Security's `restricted` allows, and the deployment's own namespace must be `privileged`. Where the plan has
    a load balancer, its controller is asked for pod readiness gates.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: A plan of a deployment with a gateway.

    Attributes:
        plan: That plan.

    Raises:
        PlanError: The app has this namespace already (PD504), or the plan has no gateway (PD522).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id, plan)
        gateway = plan.endpoint.gateway
        if gateway is None:
            raise refusal(
                NO_GATEWAY,
                self.node,
                f"the plan of {plan.name!r} has 0 gateways",
                "state endpoint.gateway, or leave this construct out",
            )
        self._write(gateway.namespace, {**_RESTRICTED, **(_READINESS_GATE if plan.endpoint.balancer else {})})
