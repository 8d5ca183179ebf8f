"""What a user states of the gateway: whose keys it accepts, what a key may do, and which proxy it runs."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_pods import SecretReference
from constructs_pd.planning.spec_types import ObjectName, ObjectNames


class ApiKeysSecret(SecretReference):
    """A Secret that holds names of API keys and SHA-256 digests of them, never the keys."""

    secret_name: Annotated[
        ObjectName,
        Field(description="the name of a Secret in the gateway's namespace, which is the deployment's with -gateway"),
    ]
    key: Annotated[
        str,
        Field(
            max_length=253,
            pattern=r"^[-_a-zA-Z0-9][-._a-zA-Z0-9]*$",
            description="the key inside the Secret, whose lines are name:digest; default: keys",
        ),
    ] = "keys"


class Gateway(FrozenModel):
    """HAProxy in front of Ray Serve, which has no authentication of its own. All limits are of one key's name."""

    api_keys_secret: ApiKeysSecret = Field(
        description="a reference to the names and digests of the API keys: {secret_name: ..., key: ...}"
    )
    image: str = Field(
        max_length=512,
        # The reference grammar of distribution: host and port, path, tag, digest.
        pattern=r"^([a-z0-9]+([.-][a-z0-9]+)*(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*"
        r"(:[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?(@[a-z0-9]+:[a-f0-9]*)?$",
        description="an image of HAProxy 2.8 with its digest, such as docker.io/library/haproxy:2.8.25@sha256:...",
    )
    pull_secrets: ObjectNames = Field(
        default=(), description="names of image pull Secrets in the gateway's namespace; default: none"
    )
    replicas: int = Field(
        default=2, ge=2, le=20, description="the gateway's pods, spread over the CPU nodes: 2 to 20; default: 2"
    )
    requests_per_minute: int = Field(
        default=600,
        ge=1,
        le=1_000_000,
        description="the requests that a key may make in a minute, of all replicas together; default: 600",
    )
    concurrent_requests: int = Field(
        default=100,
        ge=1,
        le=40_000,
        description="the requests of a key that may run at once, of all replicas together; default: 100",
    )
    max_body_bytes: int = Field(
        default=16_777_216,
        ge=1024,
        le=1_073_741_824,
        description="the largest body of a request, 1024 to 1073741824 bytes; default: 16777216, which is 16 MiB",
    )
