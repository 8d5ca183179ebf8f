"""Network policies, decided: which pods of which namespace may reach what."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel


class PodsPlan(FrozenModel):
    """Pods, by their labels.

    Attributes:
        namespace: Their namespace; none: that of the policy.
        labels: Labels that they carry; empty: all pods of a namespace that is named.
        roles: Values of the role label of which they carry one; empty: any, or none.
    """

    namespace: str | None = None
    labels: dict[str, str] = Field(default={})
    roles: tuple[str, ...] = ()


class AddressesPlan(FrozenModel):
    """Addresses outside the cluster, or of its nodes and Services.

    Attributes:
        cidr: A range of addresses.
        but: Ranges inside of it that are left out.
    """

    cidr: str
    but: tuple[str, ...] = ()


class PolicyPortsPlan(FrozenModel):
    """Ports in a row.

    Attributes:
        first: The first.
        last: The last; none: only the first.
        protocol: TCP or UDP.
    """

    first: int
    last: int | None = None
    protocol: Literal["TCP", "UDP"] = "TCP"


class AllowPlan(FrozenModel):
    """What is let through: any of the peers, at any of the ports."""

    peers: tuple[PodsPlan | AddressesPlan, ...]
    ports: tuple[PolicyPortsPlan, ...]


class NetworkPolicyPlan(FrozenModel):
    """One policy. Whatever a pod is not allowed by one of its policies is denied.

    Attributes:
        name: Its name.
        namespace: Its namespace.
        pods: The pods that it is about, of that namespace.
        isolates: Whether everything that no policy allows is denied to them; the other policies only allow.
        ingress: Who reaches them.
        egress: Whom they reach.
    """

    name: str
    namespace: str
    pods: PodsPlan
    isolates: bool = False
    ingress: tuple[AllowPlan, ...] = ()
    egress: tuple[AllowPlan, ...] = ()
