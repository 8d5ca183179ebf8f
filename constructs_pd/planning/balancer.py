"""Decides the load balancer in front of the endpoint, and says how clients are told from strangers there."""

from __future__ import annotations

from constructs_pd.planning.addons import KUBE_SYSTEM
from constructs_pd.planning.balancer_plan import BalancerPlan, SecretReaderPlan
from constructs_pd.planning.charts import LOAD_BALANCER_CONTROLLER
from constructs_pd.planning.spec import DeploymentSpec, Endpoint


def balancer_plan(spec: DeploymentSpec) -> BalancerPlan | None:
    """Return the load balancer, or none where the endpoint is inside the cluster only."""
    endpoint, stated = spec.endpoint, spec.endpoint.balancer
    if endpoint.exposure == "cluster":
        return None
    scheme = "https" if stated.certificate_arn else "http"
    return BalancerPlan(
        scheme="internet-facing" if endpoint.exposure == "internet_alb" else "internal",
        ingress_name=spec.name,
        ingress_class_name="alb",
        subnet_ids=endpoint.subnet_ids,
        host=stated.host,
        url=f"{scheme}://{stated.host}/v1" if stated.host else None,
        certificate_arn=stated.certificate_arn,
        tls_policy=stated.tls_policy,
        access_logs=stated.access_logs,
        oidc=stated.oidc,
        cognito=stated.cognito,
        jwt=stated.jwt,
        secret_reader=None if stated.oidc is None else _secret_reader(spec, stated.oidc.secret_name),
    )


def _secret_reader(spec: DeploymentSpec, secret_name: str) -> SecretReaderPlan:
    return SecretReaderPlan(
        name=f"{spec.name}-balancer-oidc",
        secret_name=secret_name,
        service_account=LOAD_BALANCER_CONTROLLER,
        service_account_namespace=KUBE_SYSTEM,
    )


def has_keys(endpoint: Endpoint) -> bool:
    """Return whether a gateway asks every client for a key."""
    return endpoint.gateway is not None


def at_the_balancer(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the fields of the balancer that tell clients from strangers, as far as they are stated."""
    return tuple(name for name in ("oidc", "cognito", "jwt") if getattr(endpoint.balancer, name) is not None)
