"""Constructs that do not fit together are refused like everything else: with a code and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from constructs import Construct, Node

from constructs_pd.findings import PlanError
from constructs_pd.planning.codes import (
    OTHER_PLAN,
    PATCHED_CLUSTER,
    SECOND_SERVICE,
    SYSTEM_NAMESPACE,
    TAKEN_NAME,
    Code,
)
from constructs_pd.planning.deployment_plan import DeploymentPlan


class Planned(Protocol):
    """A construct that renders a plan."""

    plan: DeploymentPlan

    @property
    def node(self) -> Node:
        """The construct's place in the tree."""


def require_one_plan(construct: Construct, plan: DeploymentPlan, other: Planned) -> None:
    """Refuse a construct beside another that renders a different plan; warnings do not count.

    Raises:
        PlanError: PD501.
    """
    if _without_findings(other.plan) != _without_findings(plan):
        raise _refusal(
            OTHER_PLAN,
            construct.node,
            f"{other.node.path} was made from another plan (of {other.plan.name!r}) than this one (of {plan.name!r})",
            "make both from one plan",
        )


def require_unique(construct: Planned, identity: Callable[[DeploymentPlan], str] = lambda plan: plan.name) -> None:
    """Refuse a construct beside another of its kind in the same app with the same identity: by default, the name.

    Raises:
        PlanError: PD504.
    """
    for other in construct.node.root.node.find_all():
        # The type first: every path asks Node.
        if not isinstance(other, type(construct)) or other.node.path == construct.node.path:
            continue
        if identity(other.plan) == identity(construct.plan):
            raise _refusal(
                TAKEN_NAME,
                construct.node,
                f"{other.node.path} has {identity(other.plan)!r} already",
                "use a name once, also across namespaces, with one construct of each kind; write a namespace once",
            )


def require_own_namespace(construct: Planned) -> None:
    """Refuse to write a namespace that Kubernetes itself creates.

    Raises:
        PlanError: PD505.
    """
    if construct.plan.namespace == "default":
        raise _refusal(
            SYSTEM_NAMESPACE,
            construct.node,
            "'default' is in every cluster already",
            "leave this construct out and label the namespace yourself, or choose another namespace",
        )


def already_adopted(service: Construct, cluster: Construct, adopter: Construct) -> PlanError:
    """Return the refusal of a second service on one cluster, PD502."""
    return _refusal(
        SECOND_SERVICE,
        service.node,
        f"the cluster {cluster.node.path} already serves {adopter.node.path}, and can serve 1 service",
        "give each service a cluster of its own",
    )


def changed_before_adoption(service: Construct, cluster: Construct) -> PlanError:
    """Return the refusal of a cluster whose changes would be lost, PD503."""
    return _refusal(
        PATCHED_CLUSTER,
        service.node,
        f"the RayCluster of {cluster.node.path} was patched, and is no longer written",
        "patch ApiObject.of(service) below /spec/rayClusterConfig instead, after the service is made",
    )


def _refusal(code: Code, place: Node, message: str, remedy: str) -> PlanError:
    return PlanError([code.finding(place.path, message, remedy)])


def _without_findings(plan: DeploymentPlan) -> DeploymentPlan:
    return plan.model_copy(update={"findings": ()})
