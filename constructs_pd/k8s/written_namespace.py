"""What both namespaces of a deployment have in common: each is written once in an app."""

from __future__ import annotations

from collections.abc import Mapping

import cdk8s_plus_28 as kplus
from cdk8s import ApiObjectMetadata
from constructs import Construct

from constructs_pd.composition import require_plan, require_unique
from constructs_pd.planning.deployment_plan import DeploymentPlan


class WrittenNamespace(Construct):
    """A namespace that is written, of a deployment or of its gateway.

    Attributes:
        plan: The plan that it is of.
        namespace_name: Its name.
    """

    namespace_name: str

    def __init__(self, scope: Construct, id: str, plan: DeploymentPlan) -> None:
        super().__init__(scope, id)
        self.plan = require_plan(self, plan)

    def _write(self, name: str, labels: Mapping[str, str]) -> None:
        """Write it.

        Raises:
            PlanError: The app has it already (PD504).
        """
        self.namespace_name = name
        require_unique(self, self.node.root.node.find_all(), lambda other: other.namespace_name, WrittenNamespace)
        kplus.Namespace(self, "Resource", metadata=ApiObjectMetadata(name=name, labels=dict(labels)))
