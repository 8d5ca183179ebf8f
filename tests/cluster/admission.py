"""What the API server's Pod Security admission says of a live pod elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager

from cluster.kubectl import Kubectl, Object, RefusedError, wait_for

# Names in another namespace, and what the server put into the pod and takes from nobody; Pod Security reads none of it.
NOT_OF_THE_POD = (
    "nodeName",
    "priority",
    "priorityClassName",
    "serviceAccount",
    "serviceAccountName",
    "topologySpreadConstraints",
)


def refusal(kubectl: Kubectl, pod: Object, namespace: str) -> str:
    """Return why a namespace does not admit a pod like this one, or nothing; nothing is made."""
    spec = {name: value for name, value in pod["spec"].items() if name not in NOT_OF_THE_POD}
    labels = pod["metadata"]["labels"]
    copy = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "copy", "labels": labels}, "spec": spec}
    try:
        kubectl.run("create", "--dry-run=server", "--namespace", namespace, "-f", "-", given=json.dumps(copy))
    except RefusedError as error:
        return str(error)
    return ""


@contextmanager
def namespace_of_level(kubectl: Kubectl, name: str, level: str) -> Iterator[str]:
    """Make a namespace that enforces a level, which pods can be made in, and remove it."""
    labels = {"pod-security.kubernetes.io/enforce": level}
    kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": labels}}])
    try:
        wait_for("service account", lambda: kubectl.list("serviceaccounts", name))
        yield name
    finally:
        kubectl.run("delete", "namespace", name, "--wait=false")
