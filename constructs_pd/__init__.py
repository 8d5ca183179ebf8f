"""Constructs for LLM serving with prefill and decode on separate nodes of Amazon EKS.

Importing this package starts no Node process and needs neither cdk8s nor the AWS CDK: constructs load on first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from constructs_pd.findings import Acknowledge, Finding, PlanError, Severity
    from constructs_pd.k8s import DeploymentNamespace, OpenAIEndpoint, PrefillDecodeService, RayLlmCluster
    from constructs_pd.planning import DeploymentPlan, DeploymentSpec, load_spec, plan, plan_file, plan_or_exit

__all__ = [
    "Acknowledge",
    "DeploymentNamespace",
    "DeploymentPlan",
    "DeploymentSpec",
    "Finding",
    "OpenAIEndpoint",
    "PlanError",
    "PrefillDecodeService",
    "RayLlmCluster",
    "Severity",
    "load_spec",
    "plan",
    "plan_file",
    "plan_or_exit",
]

_HOMES = {
    **dict.fromkeys(("Acknowledge", "Finding", "PlanError", "Severity"), "constructs_pd.findings"),
    **dict.fromkeys(
        ("DeploymentNamespace", "OpenAIEndpoint", "PrefillDecodeService", "RayLlmCluster"), "constructs_pd.k8s"
    ),
    **dict.fromkeys(
        ("DeploymentPlan", "DeploymentSpec", "load_spec", "plan", "plan_file", "plan_or_exit"),
        "constructs_pd.planning",
    ),
}


def __getattr__(name: str) -> Any:
    """Load a public name from its home on first use (PEP 562)."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
