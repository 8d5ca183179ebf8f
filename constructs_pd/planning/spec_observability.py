"""What a user states of traces and logs."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field
from pydantic_core import PydanticCustomError

from constructs_pd.planning.model_base import FrozenModel
from constructs_pd.planning.spec_types import DNS_1123_LABEL


def with_a_port(endpoint: str) -> str:
    """Return an address whose port exists.

    Raises:
        PydanticCustomError: It is above 65535.
    """
    try:
        urlsplit(endpoint).port  # noqa: B018 - asked for its error
    except ValueError as error:
        raise PydanticCustomError("port", "the port is above 65535") from error
    return endpoint


# The port is stated, because gRPC and HTTP take different ones for granted, and a network policy names it.
OtlpEndpoint = Annotated[
    str,
    Field(pattern=rf"^https?://{DNS_1123_LABEL}(\.{DNS_1123_LABEL})*:[1-9]\d{{0,4}}(/[A-Za-z0-9._~/-]*)?$"),
    AfterValidator(with_a_port),
]


class Tracing(FrozenModel):
    """Spans of Ray Serve and vLLM, sent by OTLP to a collector that is there."""

    otlp_endpoint: OtlpEndpoint = Field(
        description="the collector's address with its port: http://collector.observability:4317, and with protocol "
        "http also the path, http://collector.observability:4318/v1/traces; https where it has a certificate"
    )
    protocol: Literal["grpc", "http"] = Field(default="grpc", description="OTLP by grpc, or by http")
    sample_ratio: float = Field(
        default=0.01,
        ge=0.000001,
        le=1,
        allow_inf_nan=False,
        description="the part of the requests that is traced, 0.000001 to 1, where no client decides it; default: "
        "0.01, as in Ray Serve",
    )


class Logs(FrozenModel):
    """What Ray Serve and vLLM log, into files in the pods."""

    encoding: Literal["text", "json"] = Field(
        default="text", description="of Ray Serve and vLLM: text; or json, an object for each line"
    )
    requests: bool = Field(
        default=False, description="true: vLLM logs the id of each request that it takes, in both phases; or false"
    )
