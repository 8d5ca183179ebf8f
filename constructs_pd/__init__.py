"""Constructs for LLM serving with prefill and decode on separate nodes of Amazon EKS.

Importing this package starts no Node process and needs neither cdk8s nor the AWS CDK: constructs load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constructs_pd.aws import (
        EksAddOns,
        EksCluster,
        EksGpuNodeGroups,
        EksNetwork,
        ExistingCluster,
        ExistingSubnet,
    )
    from constructs_pd.findings import Acknowledge, Finding, PlanError, Severity
    from constructs_pd.k8s import (
        DeploymentMonitoring,
        DeploymentNamespace,
        GatewayNamespace,
        OpenAIEndpoint,
        PrefillDecodeService,
        RayLlmCluster,
    )
    from constructs_pd.planning import (
        ApiKeysSecret,
        DeploymentPlan,
        DeploymentSpec,
        Efa,
        Endpoint,
        Gateway,
        GcsFaultTolerance,
        Gpu,
        Head,
        Image,
        ImageRow,
        InstanceRow,
        Model,
        ModelCache,
        ModelConfigError,
        ModelRow,
        ModelSizes,
        ModelSpec,
        Monitoring,
        NewCluster,
        Nodes,
        Phase,
        Pod,
        Reservation,
        SecretReference,
        Slo,
        SystemNodes,
        Toleration,
        Traffic,
        Upgrade,
        load_spec,
        parse_spec,
        plan,
        plan_file,
        plan_or_exit,
    )

__all__ = [
    "Acknowledge",
    "ApiKeysSecret",
    "DeploymentMonitoring",
    "DeploymentNamespace",
    "DeploymentPlan",
    "DeploymentSpec",
    "Efa",
    "EksAddOns",
    "EksCluster",
    "EksGpuNodeGroups",
    "EksNetwork",
    "Endpoint",
    "ExistingCluster",
    "ExistingSubnet",
    "Finding",
    "Gateway",
    "GatewayNamespace",
    "GcsFaultTolerance",
    "Gpu",
    "Head",
    "Image",
    "ImageRow",
    "InstanceRow",
    "Model",
    "ModelCache",
    "ModelConfigError",
    "ModelRow",
    "ModelSizes",
    "ModelSpec",
    "Monitoring",
    "NewCluster",
    "Nodes",
    "OpenAIEndpoint",
    "Phase",
    "PlanError",
    "Pod",
    "PrefillDecodeService",
    "RayLlmCluster",
    "Reservation",
    "SecretReference",
    "Severity",
    "Slo",
    "SystemNodes",
    "Toleration",
    "Traffic",
    "Upgrade",
    "load_spec",
    "parse_spec",
    "plan",
    "plan_file",
    "plan_or_exit",
]

_HOMES = {
    "findings": ("Acknowledge", "Finding", "PlanError", "Severity"),
    "k8s": (
        "DeploymentMonitoring",
        "DeploymentNamespace",
        "GatewayNamespace",
        "OpenAIEndpoint",
        "PrefillDecodeService",
        "RayLlmCluster",
    ),
    "aws": ("EksAddOns", "EksCluster", "EksGpuNodeGroups", "EksNetwork", "ExistingCluster", "ExistingSubnet"),
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use (PEP 562)."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    home = next((home for home, names in _HOMES.items() if name in names), "planning")
    return getattr(import_module(f"{__name__}.{home}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
