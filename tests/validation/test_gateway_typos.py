"""Every key of the gateway's objects, misspelled one at a time: a schema or a counterpart must notice."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

import pytest

from constructs_pd import DeploymentPlan
from constructs_pd.manifests.gateway import FILES_HASH
from constructs_pd.planning.gateway_plan import GatewayPlan
from readers import kubernetes_schema
from support.gateway import GATEWAY
from support.keys import key_paths, unnoticed
from support.rendered import Manifest, only, whole_deployment
from support.specs import plan_with

VERSION = "1.35"
RESOURCES = {"cpu", "memory"}
KINDS = ("ServiceAccount", "ConfigMap", "Deployment", "Service", "PodDisruptionBudget")


@pytest.fixture(scope="module")
def plan() -> DeploymentPlan:
    return plan_with(
        {
            "endpoint": {"gateway": {**GATEWAY, "pull_secrets": ["regcred"]}},
            "head.tolerations": [{"key": "dedicated", "value": "ray"}],
        }
    )


@pytest.fixture(scope="module")
def gateway(plan: DeploymentPlan) -> GatewayPlan:
    assert plan.endpoint.gateway is not None
    return plan.endpoint.gateway


@pytest.fixture(scope="module")
def manifests(plan: DeploymentPlan, gateway: GatewayPlan) -> list[Manifest]:
    return [m for m in whole_deployment(plan) if m["metadata"].get("namespace") == gateway.namespace]


def mistakes(manifests: list[Manifest], plan: DeploymentPlan, gateway: GatewayPlan) -> Iterator[str]:
    """Yield what is wrong with the gateway's objects, alone and together."""
    for manifest in manifests:
        yield from kubernetes_schema.violations(manifest, VERSION)
        metadata = manifest.get("metadata", {})
        yield from set(metadata.get("labels", {})) ^ set(plan.labels)
        yield from {"name", "namespace"} - set(metadata)
    found = {manifest.get("kind"): manifest for manifest in manifests}
    template = found["Deployment"].get("spec", {}).get("template", {})
    labels = template.get("metadata", {}).get("labels", {})
    for kind, *path in (
        ("Deployment", "spec", "selector", "matchLabels"),
        ("Service", "spec", "selector"),
        ("PodDisruptionBudget", "spec", "selector", "matchLabels"),
    ):
        yield from _selects(_below(found[kind], *path), labels, kind)
    yield from _pod_mistakes(template.get("spec", {}), plan, labels)
    yield from set(template.get("metadata", {}).get("annotations", {})) ^ {FILES_HASH}
    yield from _files_mistakes(template.get("spec", {}), found["ConfigMap"].get("data", {}))


def _below(node: Any, *path: str) -> Any:
    for part in path:
        node = node.get(part, {})
    return node


def _selects(selector: dict[str, str], labels: dict[str, str], what: str) -> Iterator[str]:
    if not selector or not selector.items() <= labels.items():
        yield f"{what} selects no pod: {selector}"


def _pod_mistakes(spec: dict[str, Any], plan: DeploymentPlan, labels: dict[str, str]) -> Iterator[str]:
    yield from set(spec.get("nodeSelector", {})) ^ set(plan.head.node_selector)
    for spread in spec.get("topologySpreadConstraints", []):
        yield from _selects(_below(spread, "labelSelector", "matchLabels"), labels, "spread")
    for container in spec.get("containers", []):
        for part in container.get("resources", {}).values():
            yield from set(part) ^ RESOURCES


def _files_mistakes(spec: dict[str, Any], data: dict[str, str]) -> Iterator[str]:
    """Yield each file that HAProxy is told to read and that no volume holds."""
    for container in spec.get("containers", []):
        folders = {mount.get("mountPath"): mount.get("name") for mount in container.get("volumeMounts", [])}
        config = PurePosixPath(container.get("command", [""])[-1])
        read = [config] + [
            PurePosixPath(word)
            for line in data.get(config.name, "").splitlines()
            if line.strip().startswith("lua-load")
            for word in line.split()[1:]
            if word.startswith("/")
        ]
        yield from (str(path) for path in read if str(path.parent) not in folders)
        held = {str(path) for path in read if folders.get(str(path.parent)) == "files"}
        yield from {PurePosixPath(path).name for path in held} ^ set(data)


def test_what_is_rendered_has_no_mistake(manifests: list[Manifest], plan: DeploymentPlan, gateway: GatewayPlan) -> None:
    assert tuple(manifest["kind"] for manifest in manifests) == KINDS
    assert list(mistakes(manifests, plan, gateway)) == []


@pytest.mark.parametrize("kind", KINDS)
def test_no_misspelled_key_goes_unnoticed(
    manifests: list[Manifest], plan: DeploymentPlan, gateway: GatewayPlan, kind: str
) -> None:
    one, others = only(manifests, kind), [manifest for manifest in manifests if manifest["kind"] != kind]
    assert sum(1 for _ in key_paths(one)) > 5

    def check(changed: Manifest) -> list[str]:
        if {"kind", "apiVersion"} - set(changed):
            return ["kubectl refuses an object without a kind"]
        return list(mistakes([changed, *others], plan, gateway))

    assert unnoticed(one, check) == []
