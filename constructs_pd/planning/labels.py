"""Labels and tags: what every object carries, what selects a kind of pod, what pods and nodes carry."""

from __future__ import annotations

from constructs_pd.planning import defaults
from constructs_pd.planning.spec import DeploymentSpec
from constructs_pd.planning.spec_pods import Pod
from constructs_pd.planning.zones import is_zone_id


def labels(spec: DeploymentSpec) -> dict[str, str]:
    """Return the labels of every object of a deployment."""
    return {**spec.labels, defaults.DEPLOYMENT_LABEL: spec.name}


def role_labels(name: str, role: str) -> dict[str, str]:
    """Return the labels by which one kind of pod, or its nodes, are selected."""
    return {defaults.DEPLOYMENT_LABEL: name, defaults.ROLE_LABEL: role}


def pod_labels(spec: DeploymentSpec, role: str, pod: Pod) -> dict[str, str]:
    """Return all labels of one kind of pod; those that select win."""
    return {**spec.labels, **pod.labels, **role_labels(spec.name, role)}


def zone_label(zone: str) -> str:
    """Return the key under which a node states its zone: by name, or by id as EKS nodes do."""
    return "topology.k8s.aws/zone-id" if is_zone_id(zone) else "topology.kubernetes.io/zone"


def tags(spec: DeploymentSpec) -> dict[str, str]:
    """Return the AWS tags of every resource of a deployment."""
    return {**spec.nodes.tags, defaults.DEPLOYMENT_TAG: spec.name}
