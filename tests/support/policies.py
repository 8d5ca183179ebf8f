"""Who reaches whom under network policies, by the rules of Kubernetes' documentation and API.

A pod that no policy with a direction selects is open in that direction; of one that is selected, whatever one of those
policies lists is let through. A connection needs both: the way out of one pod and the way into the other. A pod always
reaches itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from ipaddress import IPv4Address, IPv4Network
from typing import Any

Labels = dict[str, str]


@dataclass(frozen=True)
class Pod:
    """A pod, with the labels of its namespace."""

    namespace: str
    labels: Labels
    address: str = "10.0.1.10"
    namespace_labels: Labels = field(default_factory=dict)

    @property
    def labels_of_namespace(self) -> Labels:
        return {"kubernetes.io/metadata.name": self.namespace, **self.namespace_labels}


@dataclass(frozen=True)
class Address:
    """Somebody who is no pod."""

    address: str


Party = Pod | Address


def allowed(policies: list[dict[str, Any]], source: Party, target: Party, port: int, protocol: str = "TCP") -> bool:
    """Return whether a connection is let through."""
    if source == target:
        return True
    leaves = not isinstance(source, Pod) or _passes(policies, source, "Egress", target, port, protocol)
    return leaves and (not isinstance(target, Pod) or _passes(policies, target, "Ingress", source, port, protocol))


def _passes(policies: list[dict[str, Any]], pod: Pod, direction: str, other: Party, port: int, protocol: str) -> bool:
    own = [policy for policy in policies if direction in policy["spec"]["policyTypes"] and _selects(policy, pod)]
    return not own or any(
        _peers_hold(policy, entry["to" if direction == "Egress" else "from"], other)
        and _ports_hold(entry["ports"], port, protocol)
        for policy in own
        for entry in policy["spec"].get(direction.lower(), [])
    )


def _selects(policy: dict[str, Any], pod: Pod) -> bool:
    return policy["metadata"]["namespace"] == pod.namespace and _matches(policy["spec"]["podSelector"], pod.labels)


def _matches(selector: dict[str, Any], labels: Labels) -> bool:
    expressions = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "In" for expression in expressions)
    return selector.get("matchLabels", {}).items() <= labels.items() and all(
        labels.get(expression["key"]) in expression["values"] for expression in expressions
    )


def _peers_hold(policy: dict[str, Any], peers: list[dict[str, Any]], other: Party) -> bool:
    assert peers  # none at all would be everybody
    return any(_peer_holds(policy, peer, other) for peer in peers)


def _peer_holds(policy: dict[str, Any], peer: dict[str, Any], other: Party) -> bool:
    if "ipBlock" in peer:
        block, address = peer["ipBlock"], IPv4Address(other.address)
        return address in IPv4Network(block["cidr"]) and not any(
            address in IPv4Network(cidr) for cidr in block.get("except", [])
        )
    if not isinstance(other, Pod):
        return False
    if "namespaceSelector" in peer:
        in_namespace = _matches(peer["namespaceSelector"], other.labels_of_namespace)
    else:
        in_namespace = other.namespace == policy["metadata"]["namespace"]
    return in_namespace and _matches(peer.get("podSelector", {}), other.labels)


def _ports_hold(ports: list[dict[str, Any]], port: int, protocol: str) -> bool:
    assert ports  # none at all would be all
    return any(
        entry["protocol"] == protocol and entry["port"] <= port <= entry.get("endPort", entry["port"])
        for entry in ports
    )


def port_entries(policies: list[dict[str, Any]], pod: Pod, direction: str, other: Party) -> Iterator[tuple[Any, ...]]:
    """Yield what an engine keeps of one peer: each protocol and range of ports that policies list for it."""
    for policy in policies:
        if direction not in policy["spec"]["policyTypes"] or not _selects(policy, pod):
            continue
        for entry in policy["spec"].get(direction.lower(), []):
            for peer in entry["to" if direction == "Egress" else "from"]:
                if _peer_holds(policy, peer, other):
                    yield from ((port["protocol"], port["port"], port.get("endPort")) for port in entry["ports"])
