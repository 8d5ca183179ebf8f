"""The load balancer in front of the endpoint, decided."""

from __future__ import annotations

from typing import Literal

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_balancer import AccessLogs, CognitoLogin, OidcLogin, TokenCheck


class SecretReaderPlan(FrozenModel):
    """The permission of the balancer's controller to read the one Secret of the OpenID Connect client.

    Attributes:
        name: Name of the Role and of its RoleBinding.
        secret_name: The Secret.
        service_account: ServiceAccount of the controller.
        service_account_namespace: Its namespace.
    """

    name: str
    secret_name: str
    service_account: str
    service_account_namespace: str


class BalancerPlan(FrozenModel):
    """An Application Load Balancer.

    Attributes:
        scheme: Whether it has public addresses.
        ingress_name: Name of its Ingress.
        ingress_class_name: Its class, which the AWS Load Balancer Controller serves.
        subnet_ids: Its subnets; empty: found by their role tag.
        host: The one DNS name that it serves; none: any.
        url: Base URL for OpenAI clients, where the host is known.
        certificate_arn: Certificate of its HTTPS listener; none: it has HTTP only.
        tls_policy: Security policy of that listener.
        access_logs: Where it logs every request, if anywhere.
        oidc: The OpenID Connect provider at which people sign in, if any.
        cognito: The Cognito user pool at which people sign in, if any.
        jwt: The tokens that it checks, if any.
        secret_reader: What lets the controller read the Secret of `oidc`.
    """

    scheme: Literal["internal", "internet-facing"]
    ingress_name: str
    ingress_class_name: str
    subnet_ids: tuple[str, ...]
    host: str | None
    url: str | None
    certificate_arn: str | None
    tls_policy: str
    access_logs: AccessLogs | None
    oidc: OidcLogin | None
    cognito: CognitoLogin | None
    jwt: TokenCheck | None
    secret_reader: SecretReaderPlan | None
