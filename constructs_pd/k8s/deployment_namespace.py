"""The namespace of a deployment."""

from __future__ import annotations

from constructs import Construct

from constructs_pd.k8s.composition import require_own_namespace
from constructs_pd.k8s.written_namespace import WrittenNamespace
from constructs_pd.planning.deployment_plan import DeploymentPlan


class DeploymentNamespace(WrittenNamespace):
    """Creates the namespace that a plan names.

    Use it once per namespace, and not at all where the namespace exists already. Ray's containers run as root with
    IPC_LOCK, which Pod Security admission allows only in a `privileged` namespace.

    Args:
        scope: Parent construct.
        id: Construct id.
        plan: A plan of a deployment in the namespace.

    Attributes:
        plan: That plan.

    Raises:
        PlanError: The app has this namespace already (PD504), or every cluster has (PD505).
    """

    def __init__(self, scope: Construct, id: str, *, plan: DeploymentPlan) -> None:
        super().__init__(scope, id, plan)
        require_own_namespace(self)
        self._write(plan.namespace, {"pod-security.kubernetes.io/enforce": "privileged"})
