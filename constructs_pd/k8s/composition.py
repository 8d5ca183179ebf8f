"""Constructs that do not fit together are refused like everything else: with a code and a remedy."""

from __future__ import annotations

from constructs import Construct

from constructs_pd.findings import PlanError
from constructs_pd.planning.codes import OTHER_PLAN, SECOND_SERVICE
from constructs_pd.planning.deployment_plan import DeploymentPlan


def require_one_plan(construct: Construct, plan: DeploymentPlan, other: Construct, other_plan: DeploymentPlan) -> None:
    """Refuse a construct beside another that renders a different plan.

    Raises:
        PlanError: PD501.
    """
    if other_plan != plan:
        finding = OTHER_PLAN.error(
            construct.node.path,
            f"{other.node.path} was made from another plan (of {other_plan.name!r}) than this one (of {plan.name!r})",
            "make both from one plan",
        )
        raise PlanError([finding])


def already_adopted(service: Construct, cluster: Construct, adopter: Construct) -> PlanError:
    """Return the refusal of a second service on one cluster, PD502."""
    finding = SECOND_SERVICE.error(
        service.node.path,
        f"the cluster {cluster.node.path} already serves {adopter.node.path}, and can serve 1 service",
        "give each service a cluster of its own",
    )
    return PlanError([finding])
