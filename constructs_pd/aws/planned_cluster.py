"""The new cluster of a plan, for constructs that have nothing to render without one."""

from __future__ import annotations

from constructs import Construct

from constructs_pd.composition import refusal
from constructs_pd.planning.cluster_plan import EksClusterPlan
from constructs_pd.planning.codes import NO_NEW_CLUSTER
from constructs_pd.planning.deployment_plan import DeploymentPlan


def planned_cluster(construct: Construct, plan: DeploymentPlan) -> EksClusterPlan:
    """Return the cluster that the plan makes.

    Raises:
        PlanError: It makes none (PD516).
    """
    if plan.eks_cluster is None:
        raise refusal(
            NO_NEW_CLUSTER,
            construct.node,
            f"the plan of {plan.name} makes 0 clusters",
            "state eks_cluster in the specification, or leave this construct out",
        )
    return plan.eks_cluster
