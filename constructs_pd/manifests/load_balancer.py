"""Annotations for the AWS Load Balancer Controller. A misspelled key is ignored in silence, so they stand here once."""

from __future__ import annotations

import json
from typing import Any, Final

from constructs_pd.planning.balancer_plan import BalancerPlan
from constructs_pd.planning.deployment_plan import DeploymentPlan

PREFIX: Final = "alb.ingress.kubernetes.io"


def ingress_annotations(plan: DeploymentPlan, balancer: BalancerPlan) -> dict[str, str]:
    """Return the annotations of an Application Load Balancer in front of the endpoint's one backend."""
    annotations = {
        "scheme": balancer.scheme,
        # The backend is a ClusterIP: instances have no port to reach it.
        "target-type": "ip",
        "healthcheck-path": plan.endpoint.backend_health_path,
        "healthcheck-port": "traffic-port",
        "success-codes": "200",
        "load-balancer-attributes": _attributes(_balancer_attributes(plan, balancer)),
        "target-group-attributes": _attributes(
            {"deregistration_delay.timeout_seconds": str(plan.timeouts.deregistration_seconds)}
        ),
        **_listeners(balancer),
        **_authentication(balancer),
    }
    if balancer.subnet_ids:
        annotations["subnets"] = ",".join(balancer.subnet_ids)
    return {f"{PREFIX}/{key}": value for key, value in annotations.items()}


def _balancer_attributes(plan: DeploymentPlan, balancer: BalancerPlan) -> dict[str, str]:
    logs = balancer.access_logs
    attributes = {
        # The default of 60 s would cut an answer that is not streamed.
        "idle_timeout.timeout_seconds": str(plan.timeouts.idle_seconds),
        "client_keep_alive.seconds": str(plan.timeouts.client_keep_alive_seconds),
        # A header that two parsers read differently is how requests are smuggled.
        "routing.http.drop_invalid_header_fields.enabled": "true",
        # Said in either case: the controller leaves an attribute that is no longer written as it was.
        "access_logs.s3.enabled": "true" if logs else "false",
    }
    if logs is not None:
        attributes["access_logs.s3.bucket"] = logs.bucket
        attributes["access_logs.s3.prefix"] = logs.prefix or ""
    return attributes


def _listeners(balancer: BalancerPlan) -> dict[str, str]:
    if balancer.certificate_arn is None:
        return {"listen-ports": '[{"HTTP": 80}]'}
    return {
        "listen-ports": '[{"HTTP": 80}, {"HTTPS": 443}]',
        "ssl-redirect": "443",
        "certificate-arn": balancer.certificate_arn,
        "ssl-policy": balancer.tls_policy,
    }


def _authentication(balancer: BalancerPlan) -> dict[str, str]:
    if balancer.oidc is not None:
        oidc = balancer.oidc
        provider = {
            "issuer": oidc.issuer,
            "authorizationEndpoint": oidc.authorization_endpoint,
            "tokenEndpoint": oidc.token_endpoint,
            "userInfoEndpoint": oidc.user_info_endpoint,
            "secretName": oidc.secret_name,
        }
        return {"auth-type": "oidc", "auth-idp-oidc": _json(provider), **_SIGN_IN}
    if balancer.cognito is not None:
        pool = balancer.cognito
        provider = {
            "userPoolARN": pool.user_pool_arn,
            "userPoolClientID": pool.user_pool_client_id,
            "userPoolDomain": pool.user_pool_domain,
        }
        return {"auth-type": "cognito", "auth-idp-cognito": _json(provider), **_SIGN_IN}
    if balancer.jwt is not None:
        check = {"issuer": balancer.jwt.issuer, "jwksEndpoint": balancer.jwt.jwks_endpoint}
        return {"jwt-validation": _json(check)}
    return {}


# Never "allow", which lets strangers through.
_SIGN_IN: Final = {"auth-on-unauthenticated-request": "authenticate", "auth-scope": "openid"}


def _attributes(attributes: dict[str, str]) -> str:
    return ",".join(f"{name}={value}" for name, value in attributes.items())


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, sort_keys=True)
