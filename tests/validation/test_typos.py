"""Every key that we render, misspelled one at a time: some reader must notice.

The readers are Kubernetes' schemas, KubeRay's CRDs, Ray's own code, and, for the maps whose keys are free to all of
them, the checks below: each such key must be one that its reader knows or that agrees with its counterpart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml
from opentelemetry.sdk import environment_variables

from constructs_pd import DeploymentPlan
from readers import custom_resource, kubernetes_schema, ray_serve
from support.keys import key_paths, unnoticed
from support.ray_nodes import place, ray_nodes
from support.rendered import Manifest, only, whole_deployment
from support.specs import plan_with

DATA = Path(__file__).parents[1] / "readers" / "data"
VERSION = "1.35"

# Annotations of aws-load-balancer-controller, docs/guide/ingress/annotations.md.
BALANCER_ANNOTATIONS = {
    f"alb.ingress.kubernetes.io/{key}"
    for key in (
        "healthcheck-path",
        "healthcheck-port",
        "listen-ports",
        "load-balancer-attributes",
        "scheme",
        "subnets",
        "success-codes",
        "target-group-attributes",
        "target-type",
    )
}
# KubeRay 1.7.0 constant.go.
OPERATOR_ANNOTATIONS = {"ray.io/initializing-timeout"}
# pod-security.kubernetes.io/enforce: Kubernetes documentation, Pod Security Admission.
NAMESPACE_LABELS = {"pod-security.kubernetes.io/enforce"}
# libfabric fi_efa(7); NVIDIA container toolkit; huggingface_hub's environment variables.
OTHER_VARIABLES = {
    "FI_EFA_FORK_SAFE",
    "FI_EFA_USE_DEVICE_RDMA",
    "FI_PROVIDER",
    "HF_HOME",
    "HF_TOKEN",
    "NVIDIA_VISIBLE_DEVICES",
    "PYTHONPATH",
}
# NIXL device plugin names: EC2 documentation (EFA), NVIDIA device plugin.
DEVICES = {"cpu", "memory", "nvidia.com/gpu", "vpc.amazonaws.com/efa"}


@cache
def ray_start_options() -> frozenset[str]:
    from readers.ray_session import ray_session

    with ray_session():
        from ray.scripts.scripts import start

        return frozenset(option.removeprefix("--") for parameter in start.params for option in parameter.opts)


@cache
def known_variables() -> frozenset[str]:
    import ray

    drain = "RAY_GRACEFUL_SHUTDOWN_DRAIN_TIMEOUT_S"
    source = Path(ray.__file__).parent / "_private"
    # Defined, and read where a node stops: a name that nothing reads would be a setting that is silently not made.
    assert f'env_float(\n    "{drain}"' in (source / "ray_constants.py").read_text(encoding="utf-8")
    assert f"ray_constants.{drain}" in (source / "node.py").read_text(encoding="utf-8")
    router = "RAY_SERVE_LLM_ROUTER_HTTP_TIMEOUT"
    constants = Path(ray.__file__).parent / "llm" / "_internal" / "serve" / "constants.py"
    assert f'os.environ.get("{router}", 600)' in constants.read_text(encoding="utf-8")
    tracing = {"RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH", "RAY_SERVE_TRACING_SAMPLING_RATIO"}
    serve = (Path(ray.__file__).parent / "serve" / "_private" / "constants.py").read_text(encoding="utf-8")
    assert all(re.search(rf'os\.environ\.get\(\s*"{name}"', serve) for name in tracing)
    telemetry = {value for name, value in vars(environment_variables).items() if name.startswith("OTEL_")}
    vllm = (DATA / "vllm-0.26.0-environment-variables.txt").read_text(encoding="utf-8").split()
    return frozenset({*vllm, *OTHER_VARIABLES, *tracing, *telemetry, drain, router})


def mistakes(manifest: Manifest, others: list[Manifest], plan: DeploymentPlan, crds: Path) -> Iterator[str]:
    """Yield what any reader says against a manifest among others, the quick ones first."""
    if manifest["apiVersion"] == "ray.io/v1":
        yield from custom_resource.violations(manifest, crds)
    else:
        yield from kubernetes_schema.violations(manifest, VERSION)
    together = [manifest, *others]
    yield from _free_key_mistakes(together, plan)
    yield from _ray_mistakes(only(together, "RayService")["spec"])


def _ray_mistakes(service: dict[str, Any]) -> list[str]:
    config = service.get("serveConfigV2", "{}")
    try:
        deployments = ray_serve.build(config)
        unknown = ray_serve.unknown_keys(config)
        pending = place(deployments, ray_nodes(service["rayClusterConfig"])).pending
    except (ray_serve.RayRefusal, KeyError, TypeError, ValueError, AttributeError) as error:
        return [str(error)]
    # vLLM reads one key of the connector's own configuration: `backends` (nixl/base_worker.py, 0.26.0).
    phases = [yaml.safe_load(config)["applications"][0]["args"][f"{phase}_config"] for phase in ("prefill", "decode")]
    connectors = [phase["engine_kwargs"]["kv_transfer_config"] for phase in phases]
    extra = [key for c in connectors for key in c.get("kv_connector_extra_config", {}) if key != "backends"]
    return [*unknown, *pending, *extra]


def _free_key_mistakes(manifests: list[Manifest], plan: DeploymentPlan) -> Iterator[str]:
    for manifest in manifests:
        metadata = manifest.get("metadata", {})
        yield from set(metadata.get("annotations", {})) - BALANCER_ANNOTATIONS - OPERATOR_ANNOTATIONS
        known = NAMESPACE_LABELS if manifest.get("kind") == "Namespace" else set(plan.labels)
        yield from set(metadata.get("labels", {})) ^ known
    cluster = only(manifests, "RayService").get("spec", {}).get("rayClusterConfig", {})
    nodes = {phase.name: phase.nodes.labels for phase in plan.phases} | {"head": plan.head.node_selector}
    pods: dict[str, dict[str, str]] = {}
    for name, group in _groups(cluster):
        template = group.get("template", {})
        pods[name] = template.get("metadata", {}).get("labels", {})
        yield from _pod_mistakes(template.get("spec", {}), pods[name], nodes[name])
        yield from _observability_mistakes(manifests, template.get("spec", {}))
        yield from set(group.get("rayStartParams", {})) - ray_start_options()
    yield from _job_mistakes(manifests, plan)
    for budget in (manifest for manifest in manifests if manifest.get("kind") == "PodDisruptionBudget"):
        selector = budget.get("spec", {}).get("selector", {}).get("matchLabels", {})
        if not any(selector and selector.items() <= labels.items() for labels in pods.values()):
            yield f"budget selects no pod: {selector}"


def _job_mistakes(manifests: list[Manifest], plan: DeploymentPlan) -> Iterator[str]:
    """Yield what the Job and what it needs get wrong about each other and about decode."""
    job, suite = only(manifests, "Job").get("spec", {}), config_map(manifests, "binaryData")
    template = job.get("template", {})
    pod, labels = template.get("spec", {}), template.get("metadata", {}).get("labels", {})
    yield from set(labels) ^ {*plan.labels, plan.role_label}
    yield from _pod_mistakes(pod, labels, plan.head.node_selector)
    run = [Path(part).name for container in pod.get("containers", []) for part in container.get("command", [])]
    yield from set(suite.get("binaryData", {})) - set(run)
    for service in (manifest for manifest in manifests if manifest.get("kind") == "Service"):
        selector = service.get("spec", {}).get("selector", {})
        if not selector.items() <= plan.decode.pod_labels.items():
            yield f"service selects no decode pod: {selector}"


def config_map(manifests: list[Manifest], key: str) -> Manifest:
    """Return the ConfigMap that has its content under a key; an empty one where it is misspelled."""
    found = [manifest for manifest in manifests if manifest.get("kind") == "ConfigMap" and key in manifest]
    return found[0] if found else {}


def _observability_mistakes(manifests: list[Manifest], spec: dict[str, Any]) -> Iterator[str]:
    """Yield where a pod finds no file of traces and logs: its volume, its mount, or the file itself."""
    files = config_map(manifests, "data")
    volumes = [volume for volume in spec.get("volumes", []) if "configMap" in volume]
    names = {volume["name"] for volume in volumes}
    if [volume["configMap"].get("name") for volume in volumes] != [files.get("metadata", {}).get("name")]:
        yield "no volume of the files"
    for container in spec.get("containers", []):
        folders = [mount.get("mountPath") for mount in container.get("volumeMounts", []) if mount["name"] in names]
        given = {str(variable.get("name")): str(variable.get("value")) for variable in container.get("env", [])}
        module = given.get("RAY_SERVE_TRACING_EXPORTER_IMPORT_PATH", "").partition(":")[0]
        wanted = {f"{given.get('PYTHONPATH')}/{module}.py", given.get("VLLM_LOGGING_CONFIG_PATH", "")}
        yield from wanted ^ {f"{folder}/{name}" for folder in folders for name in files.get("data", {})}


def _groups(cluster: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    if "headGroupSpec" in cluster:
        yield "head", cluster["headGroupSpec"]
    for group in cluster.get("workerGroupSpecs", []):
        yield group.get("groupName", "head"), group


def _pod_mistakes(spec: dict[str, Any], labels: dict[str, str], node: dict[str, str]) -> Iterator[str]:
    given = {"kubernetes.io/arch", "topology.kubernetes.io/zone"}
    for key, value in spec.get("nodeSelector", {}).items():
        if key not in given and node.get(key) != value:
            yield f"no node has {key}: {value}"
    for container in [*spec.get("containers", []), *spec.get("initContainers", [])]:
        yield from {variable.get("name", "") for variable in container.get("env", [])} - known_variables()
        resources = container.get("resources", {})
        yield from {name for part in resources.values() for name in part} - DEVICES
    anti_affinity = spec.get("affinity", {}).get("podAntiAffinity", {})
    for term in anti_affinity.get("requiredDuringSchedulingIgnoredDuringExecution", []):
        selector = term.get("labelSelector", {}).get("matchLabels", {})
        if not selector.items() <= labels.items():
            yield f"anti-affinity selects other pods: {selector}"


def one_and_the_others(manifests: list[Manifest]) -> Iterator[tuple[Manifest, list[Manifest]]]:
    for index, manifest in enumerate(manifests):
        yield manifest, [*manifests[:index], *manifests[index + 1 :]]


@pytest.fixture(scope="module")
def plan() -> DeploymentPlan:
    subnets = ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"]
    redis = {"redis_address": "redis:6379", "redis_password": {"secret_name": "redis"}}
    return plan_with(
        {
            "endpoint.subnet_ids": subnets,
            "endpoint.conformance_job": True,
            "gcs_fault_tolerance": redis,
            "head": {"tolerations": [{"key": "dedicated", "value": "ray"}]},
            "image": {"pull_secrets": ["regcred"]},
            "initializing_timeout_seconds": 7200,
            "tracing.otlp_endpoint": "http://collector.observability:4317",
            "logs": {"encoding": "json", "requests": True},
        }
    )


def test_what_is_rendered_has_no_mistake(plan: DeploymentPlan, kuberay_crd_directory: Path) -> None:
    for manifest, others in one_and_the_others(whole_deployment(plan)):
        assert list(mistakes(manifest, others, plan, kuberay_crd_directory)) == []


def test_no_misspelled_key_of_a_manifest_goes_unnoticed(plan: DeploymentPlan, kuberay_crd_directory: Path) -> None:
    manifests = whole_deployment(plan)
    assert sum(1 for _ in key_paths(manifests)) > 300
    for manifest, others in one_and_the_others(manifests):

        def check(changed: Manifest, others: list[Manifest] = others) -> Iterable[str]:
            if {"kind", "apiVersion"} - set(changed):
                return ["kubectl refuses an object without a kind"]
            return mistakes(changed, others, plan, kuberay_crd_directory)

        assert unnoticed(manifest, check) == []


def test_no_misspelled_key_of_the_serve_config_goes_unnoticed(plan: DeploymentPlan) -> None:
    service = only(whole_deployment(plan), "RayService")["spec"]
    config = yaml.safe_load(service["serveConfigV2"])
    assert sum(1 for _ in key_paths(config)) > 50

    def check(changed: Any) -> list[str]:
        return _ray_mistakes({**service, "serveConfigV2": yaml.safe_dump(changed)})

    assert unnoticed(config, check) == []
