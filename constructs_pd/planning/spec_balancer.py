"""What a user states of the load balancer in front of the endpoint."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import DNS_1123_LABEL, ObjectName

_PARTITION: Final = r"arn:aws(-cn|-us-gov)?"
_REGION: Final = r"[a-z]{2}(-[a-z]+)+-\d"

# Kubernetes, Ingress: a DNS name in lower case; ELB API, RuleCondition: at most 128 characters.
HostName = Annotated[str, Field(max_length=128, pattern=rf"^({DNS_1123_LABEL}\.)+[a-z]([-a-z0-9]*[a-z0-9])?$")]
CertificateArn = Annotated[
    str, Field(pattern=rf"^{_PARTITION}:acm:{_REGION}:\d{{12}}:certificate/[0-9A-Za-z-]{{1,64}}$")
]
UserPoolArn = Annotated[
    str, Field(pattern=rf"^{_PARTITION}:cognito-idp:{_REGION}:\d{{12}}:userpool/{_REGION}_[0-9A-Za-z]+$")
]
HttpsUrl = Annotated[
    str, Field(max_length=2048, pattern=r"^https://[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?(:\d{1,5})?(/[!-~]*)?$")
]
# Amazon S3 user guide, general purpose bucket naming rules.
BucketName = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$")]
# What ELB accepts between bucket and its own part of a log's name; ',' and '=' would end the annotation's value.
_PREFIX: Final = r"^[A-Za-z0-9!_.*'()-]+(/[A-Za-z0-9!_.*'()-]+)*$"
DEFAULT_TLS_POLICY: Final = "ELBSecurityPolicy-TLS13-1-2-Res-PQ-2025-09"


def without_aws_logs(prefix: str) -> str:
    """Return the prefix of access logs (Application Load Balancers user guide, access logs, bucket requirements).

    Raises:
        PydanticCustomError: It holds AWSLogs, with which the balancer's own part of the name begins.
    """
    if "AWSLogs" in prefix:
        raise PydanticCustomError("aws_logs", "the prefix must not include AWSLogs")
    return prefix


class AccessLogs(FrozenModel):
    """Where the balancer writes a line for every request."""

    bucket: BucketName = Field(
        description="an S3 bucket in the deployment's region, whose own policy lets the balancer write"
    )
    prefix: Annotated[str, Field(max_length=512, pattern=_PREFIX), AfterValidator(without_aws_logs)] | None = Field(
        default=None, description="what the logs' names begin with, without AWSLogs and '/' at an end; default: nothing"
    )


class OidcLogin(FrozenModel):
    """An OpenID Connect provider at which people sign in with a browser."""

    issuer: HttpsUrl = Field(description="the provider's issuer, an https address")
    authorization_endpoint: HttpsUrl = Field(description="where people sign in, an https address")
    token_endpoint: HttpsUrl = Field(description="where the balancer gets tokens, an https address")
    user_info_endpoint: HttpsUrl = Field(description="where the balancer asks who it is, an https address")
    secret_name: ObjectName = Field(
        description="a Secret in the Ingress's namespace with the keys clientID and clientSecret, by name"
    )


class CognitoLogin(FrozenModel):
    """A Cognito user pool at which people sign in with a browser."""

    user_pool_arn: UserPoolArn = Field(description="the ARN of the user pool, in the deployment's region")
    user_pool_client_id: str = Field(
        pattern=r"^[\w+]{1,128}$", description="the id of the pool's app client, which must have a client secret"
    )
    user_pool_domain: str = Field(
        max_length=253,
        pattern=rf"^{DNS_1123_LABEL}(\.{DNS_1123_LABEL})*$",
        description="the prefix of the pool's Amazon Cognito domain, or its whole custom domain",
    )


class TokenCheck(FrozenModel):
    """JSON Web Tokens that clients send as bearer keys, checked by the balancer."""

    issuer: HttpsUrl = Field(description="what a token's iss claim must be, an https address")
    jwks_endpoint: HttpsUrl = Field(
        description="where the issuer publishes its keys, an https address that the internet reaches"
    )


class Balancer(FrozenModel):
    """The Application Load Balancer in front of the endpoint."""

    host: HostName | None = Field(
        default=None,
        description="the one DNS name that is served, such as llm.example.com; default: any name; needs a certificate",
    )
    certificate_arn: CertificateArn | None = Field(
        default=None,
        description="the ARN of an ACM certificate in the deployment's region: HTTPS on port 443, and HTTP is "
        "redirected; default: HTTP only",
    )
    tls_policy: str = Field(
        default=DEFAULT_TLS_POLICY,
        pattern=r"^ELBSecurityPolicy-[A-Za-z0-9-]+$",
        description="the security policy of the HTTPS listener, one that the catalogue knows to take no TLS below 1.2",
    )
    access_logs: AccessLogs | None = Field(
        default=None, description="where every request is logged: {bucket: ..., prefix: ...}; default: nowhere"
    )
    oidc: OidcLogin | None = Field(
        default=None, description="an OpenID Connect provider at which people sign in; default: none"
    )
    cognito: CognitoLogin | None = Field(
        default=None, description="a Cognito user pool at which people sign in; default: none"
    )
    jwt: TokenCheck | None = Field(
        default=None,
        description="tokens that programs send as their key: {issuer: ..., jwks_endpoint: ...}; default: none",
    )
