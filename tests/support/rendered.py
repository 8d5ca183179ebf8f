"""Manifests as cdk8s writes them, made in this process."""

from __future__ import annotations

from typing import Any

from cdk8s import Chart, Testing
from k8s_app import DeploymentChart

from constructs_pd import (
    DeploymentMonitoring,
    DeploymentNamespace,
    DeploymentPlan,
    GatewayNamespace,
    OpenAIEndpoint,
    PrefillDecodeService,
    RayLlmCluster,
)

Manifest = dict[str, Any]


def chart() -> Chart:
    """Return an empty chart of an app of its own, named as users name theirs."""
    return Chart(Testing.app(), "test", disable_resource_name_hashes=True)


def whole_deployment(plan: DeploymentPlan) -> list[Manifest]:
    """Return every manifest of a deployment with all four constructs."""
    scope = chart()
    DeploymentNamespace(scope, "namespace", plan=plan)
    if plan.endpoint.gateway is not None:
        GatewayNamespace(scope, "gateway-namespace", plan=plan)
    cluster = RayLlmCluster(scope, "cluster", plan=plan)
    service = PrefillDecodeService(scope, "service", plan=plan, cluster=cluster)
    OpenAIEndpoint(scope, "endpoint", plan=plan, service=service)
    return synthesized(scope)


def as_written(plan: DeploymentPlan) -> list[Manifest]:
    """Return every manifest of a deployment as the app of this repository writes them, in its order."""
    return synthesized(DeploymentChart(Testing.app(), plan))


def monitoring_of(plan: DeploymentPlan) -> list[Manifest]:
    """Return what stands in the file of its own; nothing where the plan has no monitoring."""
    if plan.monitoring is None:
        return []
    scope = chart()
    DeploymentMonitoring(scope, "monitoring", plan=plan)
    return synthesized(scope)


def synthesized(scope: Chart) -> list[Manifest]:
    """Return the chart's manifests."""
    manifests: list[Manifest] = Testing.synth(scope)
    return manifests


def only(manifests: list[Manifest], kind: str) -> Manifest:
    """Return the one manifest of a kind."""
    (found,) = [manifest for manifest in manifests if manifest["kind"] == kind]
    return found


def kinds(manifests: list[Manifest]) -> list[str]:
    """Return the kinds in order."""
    return [manifest["kind"] for manifest in manifests]
