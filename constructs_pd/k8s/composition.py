"""Constructs that do not fit together are refused like everything else: with a code and a remedy."""

from __future__ import annotations

from constructs import Construct

from constructs_pd.findings import Finding, PlanError, Severity
from constructs_pd.planning.deployment_plan import DeploymentPlan


def require_one_plan(construct: Construct, plan: DeploymentPlan, other: Construct, other_plan: DeploymentPlan) -> None:
    """Refuse a construct beside another that renders a different plan.

    Raises:
        PlanError: PD501.
    """
    if other_plan != plan:
        raise _refusal(
            "PD501",
            construct,
            f"{other.node.path} was made from another plan (of {other_plan.name!r}) than this one (of {plan.name!r})",
            "make both from one plan",
        )


def already_adopted(service: Construct, cluster: Construct, adopter: Construct) -> PlanError:
    """Return the refusal of a second service on one cluster, PD502."""
    return _refusal(
        "PD502",
        service,
        f"the cluster {cluster.node.path} already serves {adopter.node.path}, and can serve 1 service",
        "give each service a cluster of its own",
    )


def _refusal(code: str, construct: Construct, message: str, remedy: str) -> PlanError:
    finding = Finding(code, Severity.ERROR, construct.node.path, message, remedy, source="this library")
    return PlanError([finding])
