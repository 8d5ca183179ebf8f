"""A CRD's reader accepts a correct resource and names the fault in a wrong one."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from readers import custom_resource

WIDGET_CRD = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Widget, plural: widgets}
  versions:
    - {name: v0, served: false, storage: false, schema: {openAPIV3Schema: {type: object}}}
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            apiVersion: {type: string}
            kind: {type: string}
            metadata: {type: object}
            spec:
              type: object
              x-kubernetes-validations: [{rule: has(self.count)}]
              properties:
                count: {type: integer, format: int32, minimum: 0, exclusiveMinimum: true}
                port: {x-kubernetes-int-or-string: true, anyOf: [{type: integer}, {type: string}]}
                note: {type: string, nullable: true}
                labels: {type: object, additionalProperties: {type: string}}
                free: {type: object, x-kubernetes-preserve-unknown-fields: true}
                embedded: {type: object, x-kubernetes-embedded-resource: true}
                closed: {type: object}
                tags: {type: array, items: {type: string}, x-kubernetes-list-type: set}
                ports:
                  type: array
                  x-kubernetes-list-type: map
                  x-kubernetes-list-map-keys: [number, protocol]
                  items:
                    type: object
                    required: [number]
                    properties:
                      number: {type: integer}
                      protocol: {type: string, default: TCP}
"""

RAY_SERVICE = """
apiVersion: ray.io/v1
kind: RayService
metadata:
  name: example
  namespace: serving
  labels: {app.kubernetes.io/name: example}
spec:
  serveConfigV2: |
    applications: []
  rayClusterConfig:
    rayVersion: 2.58.0
    headGroupSpec:
      rayStartParams: {num-cpus: "0"}
      template:
        metadata: {labels: {role: head}}
        spec:
          containers:
            - name: ray-head
              image: registry.example/ray-llm:1
              ports: [{containerPort: 6379, name: gcs}, {containerPort: 8265, name: dashboard}]
              resources: {limits: {cpu: 4, memory: 16Gi}}
    workerGroupSpecs:
      - groupName: prefill
        replicas: 1
        minReplicas: 1
        maxReplicas: 2
        numOfHosts: 1
        rayStartParams: {resources: '"{\\"pd-prefill\\": 1}"'}
        template:
          spec:
            containers:
              - name: ray-worker
                image: registry.example/ray-llm:1
                env: [{name: NCCL_DEBUG, value: WARN}]
                volumeMounts: [{name: shm, mountPath: /dev/shm}]
            volumes: [{name: shm, emptyDir: {medium: Memory, sizeLimit: 16Gi}}]
"""


def changed(manifest: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    """Set (or with None, remove) what the dotted path names."""
    node: Any = manifest
    *parents, last = (int(part) if part.isdigit() else part for part in path.split("."))
    for part in parents:
        node = node[part]
    if value is None:
        del node[last]
    else:
        node[last] = value
    return manifest


@pytest.fixture
def ray_service() -> dict[str, Any]:
    manifest: dict[str, Any] = yaml.safe_load(RAY_SERVICE)
    return manifest


@pytest.fixture
def ray_cluster(ray_service: dict[str, Any]) -> dict[str, Any]:
    return ray_service | {"kind": "RayCluster", "spec": ray_service["spec"]["rayClusterConfig"]}


@pytest.fixture(scope="module")
def widget_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("crds")
    (directory / "widgets.yaml").write_text(WIDGET_CRD, encoding="utf-8")
    return directory


def widget(**spec: Any) -> dict[str, Any]:
    return {"apiVersion": "example.org/v1", "kind": "Widget", "metadata": {"name": "example"}, "spec": spec}


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"count": 1, "port": 80, "labels": {"a": "b"}},
        {"port": "http", "free": {"anything": [1]}},
        {"note": None, "tags": ["a", "b"]},
        {"ports": [{"number": 1}, {"number": 1, "protocol": "UDP"}]},
        {"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}},
    ],
)
def test_accepts(widget_directory: Path, spec: dict[str, Any]) -> None:
    assert custom_resource.violations(widget(**spec), widget_directory) == []


@pytest.mark.parametrize(
    ("spec", "fault"),
    [
        ({"counts": 1}, "$.spec: Additional properties are not allowed ('counts' was unexpected)"),
        ({"closed": {"a": 1}}, "$.spec.closed: Additional properties are not allowed ('a' was unexpected)"),
        ({"count": "1"}, "$.spec.count: '1' is not of type 'integer'"),
        ({"count": 0}, "$.spec.count: 0 is less than or equal to the minimum of 0"),
        ({"count": 2**31}, "$.spec.count: 2147483648 is not a 'int32'"),
        ({"count": None}, "$.spec.count: None is not of type 'integer'"),
        ({"port": 1.5}, "$.spec.port: 1.5 is not of type 'integer', 'string'"),
        ({"labels": {"a": 1}}, "$.spec.labels.a: 1 is not of type 'string'"),
        ({"tags": ["a", "a"]}, "$.spec.tags: ['a', 'a'] has non-unique elements"),
        (
            {"ports": [{"number": 1}, {"number": 1, "protocol": "TCP"}]},
            "$.spec.ports: duplicate list item {'number': 1, 'protocol': 'TCP'}",
        ),
        (
            {"embedded": {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x", "label": {}}}},
            "$.spec.embedded.metadata: Additional properties are not allowed ('label' was unexpected)",
        ),
    ],
)
def test_refuses(widget_directory: Path, spec: dict[str, Any], fault: str) -> None:
    violations = custom_resource.violations(widget(**spec), widget_directory)
    assert fault in violations


@pytest.mark.parametrize(
    ("metadata", "fault"),
    [
        ({"name": "Example"}, "$.metadata.name: 'Example' does not match"),
        ({}, "$.metadata: {} is not valid under any of the given schemas"),
        ({"name": "x", "namespaces": "y"}, "('namespaces' was unexpected)"),
        ({"name": "x", "labels": {"a": "not valid"}}, "$.metadata.labels.a: 'not valid' does not match"),
        ({"name": "x", "labels": {"a": True}}, "$.metadata.labels.a: True is not of type 'string'"),
        ({"name": "x", "labels": {"/a": "b"}}, "'/a' does not match any of the regexes"),
        ({"name": "x", "annotations": {"a": 1}}, "$.metadata.annotations.a: 1 is not of type 'string'"),
    ],
)
def test_refuses_wrong_metadata(widget_directory: Path, metadata: dict[str, Any], fault: str) -> None:
    (violation,) = custom_resource.violations(widget() | {"metadata": metadata}, widget_directory)
    assert fault in violation


@pytest.mark.parametrize("missing", ["metadata", "spec"])
def test_refuses_a_missing_part(widget_directory: Path, missing: str) -> None:
    manifest = {key: value for key, value in widget().items() if key != missing}
    assert custom_resource.violations(manifest, widget_directory) == [f"$: '{missing}' is a required property"]


@pytest.mark.parametrize(
    "type_meta",
    [
        {"apiVersion": "example.org/v2"},
        {"apiVersion": "example.org/v0"},
        {"apiVersion": "example.com/v1"},
        {"kind": "Gadget"},
        {"kind": None},
    ],
)
def test_has_no_verdict_without_a_served_crd(widget_directory: Path, type_meta: dict[str, Any]) -> None:
    with pytest.raises(LookupError, match=r"only: example\.org/v1 Widget"):
        custom_resource.violations(widget() | type_meta, widget_directory)


def test_lists_the_rules_it_does_not_evaluate(widget_directory: Path) -> None:
    (crd,) = custom_resource.definitions(widget_directory)
    assert custom_resource.cel_rules(crd) == ["v1 $.spec: has(self.count)"]


def test_accepts_a_ray_service(ray_service: dict[str, Any], kuberay_crd_directory: Path) -> None:
    assert custom_resource.violations(ray_service, kuberay_crd_directory) == []


def test_accepts_a_ray_cluster(ray_cluster: dict[str, Any], kuberay_crd_directory: Path) -> None:
    assert custom_resource.violations(ray_cluster, kuberay_crd_directory) == []


WORKER = "spec.rayClusterConfig.workerGroupSpecs.0"


@pytest.mark.parametrize(
    ("path", "value", "fault"),
    [
        ("spec.serveConfig", "", "('serveConfig' was unexpected)"),
        (
            "spec.serveConfigV2",
            {"applications": []},
            "$.spec.serveConfigV2: {'applications': []} is not of type",
        ),
        ("spec.rayClusterConfig.headGroupSpecs", {}, "('headGroupSpecs' was unexpected)"),
        ("spec.rayClusterConfig.headGroupSpec", None, "'headGroupSpec' is a required property"),
        (f"{WORKER}.replicas", "1", "replicas: '1' is not of type 'integer'"),
        (f"{WORKER}.replica", 1, "('replica' was unexpected)"),
        (f"{WORKER}.groupName", None, "'groupName' is a required property"),
        (f"{WORKER}.rayStartParams.num-cpus", 0, "0 is not of type 'string'"),
        (f"{WORKER}.template.spec.nodeSelectors", {}, "('nodeSelectors' was unexpected)"),
        (f"{WORKER}.template.metadata", {"label": {}}, "('label' was unexpected)"),
        (f"{WORKER}.template.spec.containers.0.env.0.value", 1, "env[0].value: 1 is not of type 'string'"),
        (
            f"{WORKER}.template.spec.containers.0.resources",
            {"limits": {"cpu": "4 cores"}},
            "'4 cores' does not",
        ),
        ("metadata.label", {}, "('label' was unexpected)"),
    ],
)
def test_refuses_a_wrong_ray_service(
    ray_service: dict[str, Any], kuberay_crd_directory: Path, path: str, value: Any, fault: str
) -> None:
    (violation,) = custom_resource.violations(changed(ray_service, path, value), kuberay_crd_directory)
    assert fault in violation


def test_refuses_two_containers_of_one_name(ray_cluster: dict[str, Any], kuberay_crd_directory: Path) -> None:
    containers = ray_cluster["spec"]["headGroupSpec"]["template"]["spec"]["containers"]
    containers.append({"name": "ray-head", "image": "registry.example/sidecar:1"})
    (violation,) = custom_resource.violations(ray_cluster, kuberay_crd_directory)
    assert violation.endswith("duplicate list item {'name': 'ray-head'}")


def test_knows_the_rules_of_kuberay(kuberay_crd_directory: Path) -> None:
    """None of them constrains a new RayService but for managedBy; a new rule here deserves a look."""
    rules = {
        rule.partition(": ")[2]
        for crd in custom_resource.definitions(kuberay_crd_directory)
        for rule in custom_resource.cel_rules(crd)
    }
    assert rules == {
        "self == oldSelf",
        "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']",
    }
