"""In which order CloudFormation makes what several stacks hold, and what each thing needs before it.

Both are read from the templates: the order from references, DependsOn and the stacks' dependencies; the needs from what
a resource is. A thing that is made before what it needs fails, or waits for ever.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from support.new_cluster import Stacks
from support.template import Resource

CHART = "Custom::AWSCDK-EKS-HelmChart"
MANIFEST = "Custom::AWSCDK-EKS-KubernetesResource"
# A place in the stacks: the stack's name and the resource's logical id.
Place = tuple[str, str]


@dataclass(frozen=True)
class Need:
    """Something that must be there before another."""

    by: Place
    what: str
    of: tuple[Place, ...]


def unordered(stacks: Stacks, dependencies: dict[str, set[str]]) -> list[str]:
    """Return every need that may be met too late, or by nothing at all."""
    before = _before(stacks, dependencies)
    return [
        f"{need.by[0]}/{need.by[1]} before {need.what}"
        for need in needs(stacks)
        if not need.of or any(place not in before(need.by) for place in need.of)
    ]


def needs(stacks: Stacks) -> Iterator[Need]:
    """Yield what each resource needs, by its kind."""
    for name, template in stacks.items():
        for logical_id, resource in template["Resources"].items():
            yield from _needs_of((name, logical_id), resource, stacks)


def _needs_of(by: Place, resource: Resource, stacks: Stacks) -> Iterator[Need]:
    kind, properties = resource["Type"], resource.get("Properties", {})
    if kind == "AWS::EKS::Cluster":
        yield Need(by, "a way out of its subnets", _places(stacks, "AWS::EC2::Route"))
        own = f"/aws/eks/{properties['Name']}/cluster"
        groups = _places(stacks, "AWS::Logs::LogGroup")
        logs = tuple(place for place in groups if _of(stacks, place).get("LogGroupName") == own)
        yield Need(by, "the log group that EKS would make itself", logs)
    elif kind == "AWS::EKS::Nodegroup":
        for addon in ("vpc-cni", "kube-proxy", "eks-pod-identity-agent"):
            yield Need(by, addon, _addon(stacks, addon))
    elif kind == "AWS::EKS::Addon" and properties["AddonName"] in ("coredns", "aws-efs-csi-driver"):
        yield Need(by, "nodes for its pods", _system_nodes(stacks))
    elif kind in (CHART, MANIFEST):
        yield Need(by, "the right to apply", _kubectl_access(stacks))
        yield from (
            _needs_of_chart(by, properties, stacks) if kind == CHART else _needs_of_manifests(by, properties, stacks)
        )


def _needs_of_chart(by: Place, properties: Resource, stacks: Stacks) -> Iterator[Need]:
    yield Need(by, "nodes for its pods", _system_nodes(stacks))
    yield Need(by, "coredns", _addon(stacks, "coredns"))
    for place in _places(stacks, "AWS::EKS::PodIdentityAssociation"):
        if _of(stacks, place)["ServiceAccount"] in _text(properties["Values"]):
            yield Need(by, "the identity of its pods", (place,))


def _needs_of_manifests(by: Place, properties: Resource, stacks: Stacks) -> Iterator[Need]:
    for manifest in json.loads(_text(properties["Manifest"])):
        yield from _needs_of_manifest(by, manifest, stacks)


def _needs_of_manifest(by: Place, manifest: Any, stacks: Stacks) -> Iterator[Need]:
    kind, spec = manifest["kind"], manifest.get("spec", {})
    if kind in ("RayService", "RayCluster"):
        yield Need(by, "KubeRay's definitions and operator", _charts(stacks, "kuberay-operator"))
        yield Need(by, "the GPUs' device plugin", _charts(stacks, "nvidia-device-plugin"))
        yield Need(by, "the adapters' device plugin", _charts(stacks, "aws-efa-k8s-device-plugin"))
        yield Need(by, "nodes", _places(stacks, "AWS::EKS::Nodegroup"))
    if kind == "Ingress":
        yield Need(by, "the balancer's controller with its webhooks", _charts(stacks, "aws-load-balancer-controller"))
    if kind == "PersistentVolumeClaim":
        classes = _storage_classes(stacks, spec["storageClassName"])
        yield Need(by, f"the storage class {spec['storageClassName']}", classes)
    if kind == "StorageClass":
        yield Need(by, "its driver", _addon(stacks, "aws-efs-csi-driver"))
        yield Need(by, "a way to the file system", _places(stacks, "AWS::EFS::MountTarget"))


def namespaces_are_first(manifests: list[Any]) -> list[str]:
    """Return every object of a list that stands before its namespace; kubectl applies in the list's order."""
    made: set[str] = {"default", "kube-system"}
    early = []
    for manifest in manifests:
        namespace = manifest["metadata"].get("namespace")
        if manifest["kind"] == "Namespace":
            made.add(manifest["metadata"]["name"])
        elif namespace is not None and namespace not in made:
            early.append(f"{manifest['kind']} {manifest['metadata']['name']}")
    return early


def applied(stacks: Stacks, stack: str) -> list[Any]:
    """Return the objects that a stack applies."""
    (place,) = [place for place in _places(stacks, MANIFEST) if place[0] == stack]
    manifests: list[Any] = json.loads(_text(_of(stacks, place)["Manifest"]))
    return manifests


def _storage_classes(stacks: Stacks, name: str) -> tuple[Place, ...]:
    return tuple(
        place
        for place in _places(stacks, MANIFEST)
        for manifest in json.loads(_text(_of(stacks, place)["Manifest"]))
        if manifest["kind"] == "StorageClass" and manifest["metadata"]["name"] == name
    )


def _addon(stacks: Stacks, name: str) -> tuple[Place, ...]:
    return tuple(place for place in _places(stacks, "AWS::EKS::Addon") if _of(stacks, place)["AddonName"] == name)


def _system_nodes(stacks: Stacks) -> tuple[Place, ...]:
    nodes = _places(stacks, "AWS::EKS::Nodegroup")
    return tuple(place for place in nodes if "nvidia.com/gpu.present" not in _of(stacks, place)["Labels"])


def _kubectl_access(stacks: Stacks) -> tuple[Place, ...]:
    """Return the access entries of roles that stand in a template: that of the CDK's kubectl."""
    return tuple(
        place
        for place in _places(stacks, "AWS::EKS::AccessEntry")
        if "Fn::GetAtt" in _of(stacks, place)["PrincipalArn"]
    )


def _charts(stacks: Stacks, chart: str) -> tuple[Place, ...]:
    return tuple(place for place in _places(stacks, CHART) if _of(stacks, place)["Chart"] == chart)


def _places(stacks: Stacks, kind: str) -> tuple[Place, ...]:
    return tuple(
        (name, logical_id)
        for name, template in stacks.items()
        for logical_id, resource in template["Resources"].items()
        if resource["Type"] == kind
    )


def _of(stacks: Stacks, place: Place) -> Resource:
    properties: Resource = stacks[place[0]]["Resources"][place[1]]["Properties"]
    return properties


def _text(value: Any) -> str:
    """Return a text, with something in the place of what is known at deploy time."""
    return value if isinstance(value, str) else "".join(p if isinstance(p, str) else "x" for p in value["Fn::Join"][1])


def _before(stacks: Stacks, dependencies: dict[str, set[str]]) -> Any:
    """Return a function from a place to everything that is made before it."""
    exports = {
        output["Export"]["Name"]: (name, output["Value"])
        for name, template in stacks.items()
        for output in template.get("Outputs", {}).values()
        if "Export" in output
    }
    known: dict[Place, set[Place]] = {}

    def direct(place: Place) -> set[Place]:
        stack, logical_id = place
        resource = stacks[stack]["Resources"][logical_id]
        found = {(stack, needed) for needed in _referred(resource) if needed in stacks[stack]["Resources"]}
        for other in _all_before(stack, dependencies):
            found |= {(other, needed) for needed in stacks[other]["Resources"]}
        for imported in _imports(resource):
            name, value = exports[imported]
            found |= {(name, needed) for needed in _referred(value) if needed in stacks[name]["Resources"]}
        return found

    def everything(place: Place) -> set[Place]:
        if place not in known:
            known[place] = set()
            near = direct(place)
            known[place] = near.union(*(everything(other) for other in near))
        return known[place]

    return everything


def _all_before(stack: str, dependencies: dict[str, set[str]]) -> set[str]:
    near = dependencies[stack]
    return near.union(*(_all_before(other, dependencies) for other in near))


def _referred(value: Any) -> Iterator[str]:
    """Yield every logical id that a part of a template refers to or depends on."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key == "Ref":
                yield inner
            elif key == "Fn::GetAtt":
                yield inner[0]
            elif key == "DependsOn":
                yield from [inner] if isinstance(inner, str) else inner
            else:
                yield from _referred(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _referred(inner)


def _imports(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from [inner] if key == "Fn::ImportValue" else _imports(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _imports(inner)
