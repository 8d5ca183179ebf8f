"""Constructs that do not fit together are refused like everything else: with a code and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constructs import Construct

from constructs_pd.composition import Planned, refusal, require_unique
from constructs_pd.findings import PlanError
from constructs_pd.planning.codes import PATCHED_CLUSTER, SECOND_SERVICE, SYSTEM_NAMESPACE


def require_unique_in_app(construct: Planned, name: Callable[[Any], str] = lambda other: other.plan.name) -> None:
    """Refuse a construct beside another of its kind in the same app with the same name: by default, the plan's.

    Raises:
        PlanError: PD504.
    """
    require_unique(construct, construct.node.root.node.find_all(), name)


def require_own_namespace(construct: Planned) -> None:
    """Refuse to write a namespace that Kubernetes itself creates.

    Raises:
        PlanError: PD505.
    """
    if construct.plan.namespace == "default":
        raise refusal(
            SYSTEM_NAMESPACE,
            construct.node,
            "'default' is in every cluster already",
            "leave this construct out and label the namespace yourself, or choose another namespace",
        )


def already_adopted(service: Construct, cluster: Construct, adopter: Construct) -> PlanError:
    """Return the refusal of a second service on one cluster, PD502."""
    return refusal(
        SECOND_SERVICE,
        service.node,
        f"the cluster {cluster.node.path} already serves {adopter.node.path}, and can serve 1 service",
        "give each service a cluster of its own",
    )


def changed_before_adoption(service: Construct, cluster: Construct) -> PlanError:
    """Return the refusal of a cluster whose changes would be lost, PD503."""
    return refusal(
        PATCHED_CLUSTER,
        service.node,
        f"the RayCluster of {cluster.node.path} was patched, and is no longer written",
        "patch ApiObject.of(service) below /spec/rayClusterConfig instead, after the service is made",
    )
