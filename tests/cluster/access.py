"""Each way to the endpoint, with each way to tell clients from strangers there, as deployments to try."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from constructs_pd import DeploymentPlan
from support.changes import GATEWAY
from support.specs import CERTIFICATE, COGNITO, JWT, OIDC, plan_with

Changes = dict[str, Any]

CLIENTS, MONITORING, OPERATOR = "applications", "monitoring", "kuberay-system"
BALANCER_CIDR = "10.0.7.0/24"
# How clients are told from strangers. Keys are asked for by the gateway, the others by the balancer.
WAYS: dict[str, Changes] = {
    "keys": {"endpoint.gateway": GATEWAY},
    "oidc": {"endpoint.balancer.oidc": OIDC},
    "cognito": {"endpoint.balancer.cognito": COGNITO},
    "jwt": {"endpoint.balancer.jwt": JWT},
}
TLS: Changes = {"endpoint.balancer.certificate_arn": CERTIFICATE, "endpoint.balancer.host": "llm.example.com"}
POLICIES: Changes = {
    "network_policy": {
        "enforced_by": "vpc_cni",
        "client_namespaces": [CLIENTS],
        "monitoring_namespaces": [MONITORING],
        "operator_namespace": OPERATOR,
    }
}
TOKEN: Changes = {"ray_authentication": "token"}
# Everything else that an endpoint and its balancer may have.
MORE: Changes = {
    "endpoint.subnet_ids": ["subnet-0123456789abcdef0", "subnet-0123456789abcdef1"],
    "endpoint.longest_generation_seconds": 300,
    "endpoint.idle_timeout_seconds": 400,
    "endpoint.conformance_job": True,
    "endpoint.balancer.tls_policy": "ELBSecurityPolicy-TLS13-1-3-2021-06",
    "endpoint.balancer.access_logs": {"bucket": "balancer-logs", "prefix": "llm"},
}


def case(exposure: str, *ways: str, policies: bool = True, more: Changes | None = None) -> Changes:
    """Return the changes of the reference deployment that make a case; a certificate is where people sign in."""
    changes: Changes = {"endpoint": {"exposure": exposure}, "model_cache": None}
    for way in ways:
        changes |= WAYS[way]
    if exposure == "internet_alb" or {"oidc", "cognito", "jwt"} & set(ways):
        changes |= TLS
    if policies:
        changes |= POLICIES
        changes |= {} if exposure == "cluster" else {"network_policy.balancer_cidrs": [BALANCER_CIDR]}
    return changes | (more or {})


CASES: dict[str, Changes] = {
    "cluster": case("cluster"),
    "cluster, bare": case("cluster", policies=False),
    "cluster, keys": case("cluster", "keys", more=TOKEN | {"endpoint.gateway.replicas": 3}),
    "internal, open": case("internal_alb", more={"endpoint.conformance_job": True}),
    "internal, keys": case("internal_alb", "keys"),
    "internal, oidc": case("internal_alb", "oidc", policies=False, more=TOKEN),
    "internal, keys and oidc": case("internal_alb", "keys", "oidc"),
    "internal, cognito": case("internal_alb", "cognito"),
    "internal, jwt": case("internal_alb", "jwt"),
    "internet, keys": case("internet_alb", "keys", more=MORE | TOKEN),
    "internet, keys, no policies": case("internet_alb", "keys", policies=False),
    "internet, keys and cognito": case("internet_alb", "keys", "cognito"),
    "internet, oidc": case("internet_alb", "oidc"),
    "internet, cognito": case("internet_alb", "cognito"),
    "internet, jwt": case("internet_alb", "jwt", more=TOKEN),
}


def plan_of(name: str, namespace: str) -> DeploymentPlan:
    """Return the plan of a case, under a name of its own."""
    return plan_with({**CASES[name], "name": namespace, "namespace": namespace})


def stated(name: str) -> set[str]:
    """Return the fields that a case states, by their paths."""
    return {path for path, _ in _leaves(CASES[name])}


def _leaves(changes: Changes, prefix: str = "") -> Iterator[tuple[str, Any]]:
    for path, value in changes.items():
        yield f"{prefix}{path}", value
        if isinstance(value, dict):
            yield from _leaves(value, f"{prefix}{path}.")
