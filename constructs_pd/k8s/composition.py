"""Constructs that do not fit together are refused like everything else: with a code and a remedy."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from constructs import Construct

from constructs_pd.composition import Planned, refusal, require_unique
from constructs_pd.findings import PlanError
from constructs_pd.planning.codes import PATCHED_CLUSTER, SECOND_SERVICE, SYSTEM_NAMESPACE, TAKEN_HOST


def require_unique_in_app(construct: Planned, name: Callable[[Any], str] = lambda other: other.plan.name) -> None:
    """Refuse a construct beside another of its kind in the same app with the same name: by default, the plan's.

    Raises:
        PlanError: PD504.
    """
    require_unique(construct, construct.node.root.node.find_all(), name)


def require_own_host(construct: Planned) -> None:
    """Refuse an endpoint whose load balancer serves a host and path that another endpoint of the app serves.

    Each endpoint has a balancer of its own, for every path, so the host alone tells them apart.

    Raises:
        PlanError: PD521.
    """
    host = _host(construct)
    for other in construct.node.root.node.find_all():
        if host is None or not isinstance(other, type(construct)) or other.node.path == construct.node.path:
            continue
        if _host(other) == host:
            raise refusal(
                TAKEN_HOST,
                construct.node,
                f"{other.node.path} (of {other.plan.name!r}) serves {host}/ already, this one is of "
                f"{construct.plan.name!r}: 2 services for 1 host and path",
                "give each endpoint.balancer.host a name of its own",
            )


def _host(construct: Planned) -> str | None:
    balancer = construct.plan.endpoint.balancer
    return balancer.host if balancer else None


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
