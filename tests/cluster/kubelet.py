"""What a kubelet would do with a pod that waits for the test: see whether all is there that it mounts, and start it.

Heads and the gateway's pods wait so; of all other pods KWOK says at once that they run.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from cluster.kubectl import Kubectl, NotFoundError, Object, wait_for

# KWOK says of a head or a pod of the gateway that it runs once it has this annotation.
STARTED = ("constructs-pd/test-kubelet", "started")


def missing(kubectl: Kubectl, pod: Object) -> list[str]:
    """Return what a pod's volumes and variables name that is not there: it waits until it is.

    None of a pod's containers starts before all of its Secrets and ConfigMaps that are not optional are there, each
    with the keys that are named (Kubernetes documentation, Secrets, Optional Secrets).
    """
    namespace = pod["metadata"]["namespace"]
    return sorted({text for kind, name, keys in _named(pod) for text in _absent(kubectl, namespace, kind, name, keys)})


def start(kubectl: Kubectl, pods: list[Object]) -> None:
    """Start pods that have a node and everything that they mount."""
    for pod in pods:
        name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
        assert "nodeName" in pod["spec"], name
        assert missing(kubectl, pod) == [], name
        kubectl.run("annotate", "pod", name, "--namespace", namespace, "=".join(STARTED))

    def run() -> bool:
        live = [kubectl.get("pod", pod["metadata"]["name"], pod["metadata"]["namespace"]) for pod in pods]
        return all(is_ready(pod) for pod in live)

    wait_for("started pods", run)


def is_ready(pod: Object) -> bool:
    """Return whether a pod is said to be ready."""
    conditions = {each["type"]: each["status"] for each in pod["status"].get("conditions", [])}
    return conditions.get("Ready") == "True"


def _named(pod: Object) -> Iterator[tuple[str, str, list[str]]]:
    """Yield kind, name and keys of what a pod cannot do without."""
    for volume in pod["spec"].get("volumes", []):
        for kind, source, name in (("secret", "secret", "secretName"), ("configmap", "configMap", "name")):
            stated = volume.get(source)
            if stated and not stated.get("optional"):
                yield kind, stated[name], [item["key"] for item in stated.get("items", [])]
    for container in [*pod["spec"].get("initContainers", []), *pod["spec"]["containers"]]:
        for variable in container.get("env", []):
            reference = variable.get("valueFrom", {}).get("secretKeyRef")
            if reference and not reference.get("optional"):
                yield "secret", reference["name"], [reference["key"]]


def _absent(kubectl: Kubectl, namespace: str, kind: str, name: str, keys: list[str]) -> Iterator[str]:
    found: Object = {}
    with suppress(NotFoundError):
        found = kubectl.get(kind, name, namespace)
    if not found:
        yield f"{kind} {name}"
        return
    yield from (f"{kind} {name}: {key}" for key in keys if key not in found.get("data", {}))
