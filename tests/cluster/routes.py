"""Where a request goes, by live objects: from a name or a load balancer to the pods that Kubernetes found for it."""

from __future__ import annotations

from dataclasses import dataclass

from cluster.kubectl import Kubectl, Object


@dataclass(frozen=True)
class Target:
    """What a Service leads to.

    Attributes:
        namespace: Its namespace.
        service: Its name.
        ports: The ports that it offers.
        pods: The names of the ready pods behind it, as its EndpointSlices have them.
        pod_ports: The ports of those pods.
    """

    namespace: str
    service: str
    ports: frozenset[int]
    pods: frozenset[str]
    pod_ports: frozenset[int]


def target(kubectl: Kubectl, namespace: str, name: str) -> Target:
    """Return what a live Service leads to.

    Raises:
        NotFoundError: There is no such Service.
    """
    service = kubectl.get("service", name, namespace)
    slices = kubectl.list("endpointslices", namespace, f"kubernetes.io/service-name={name}")
    return Target(
        namespace=namespace,
        service=name,
        ports=frozenset(port["port"] for port in service["spec"]["ports"]),
        pods=frozenset(
            endpoint["targetRef"]["name"]
            for each in slices
            for endpoint in each.get("endpoints") or ()
            if endpoint["conditions"].get("ready")
        ),
        pod_ports=frozenset(port["port"] for each in slices for port in each.get("ports") or ()),
    )


def of_ingress(kubectl: Kubectl, ingress: Object) -> tuple[Target, int]:
    """Return what a live Ingress leads to for every path, and the Service's port that it names."""
    (rule,) = ingress["spec"]["rules"]
    (path,) = rule["http"]["paths"]
    assert (path["path"], path["pathType"]) == ("/", "Prefix")
    assert "defaultBackend" not in ingress["spec"]
    service = path["backend"]["service"]
    return target(kubectl, ingress["metadata"]["namespace"], service["name"]), service["port"]["number"]


def of_name(kubectl: Kubectl, namespace: str, name: str) -> Target:
    """Return what a live Service that is another's alias leads to."""
    spec = kubectl.get("service", name, namespace)["spec"]
    assert spec["type"] == "ExternalName"
    service, where, *cluster = spec["externalName"].split(".")
    assert cluster == ["svc", "cluster", "local"]
    return target(kubectl, where, service)
