"""Why an endpoint cannot be checked at all: it is down, slow, not OpenAI's API, or its certificate is bad."""

from __future__ import annotations

import re
import ssl
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import httpx

from constructs_pd.findings import Finding, Severity


@dataclass(frozen=True, slots=True)
class Problem:
    """A kind of problem: a stable code CF0xx, what must hold, and what to do about it."""

    code: str
    title: str
    remedy: str


DOWN: Final = Problem("CF001", "The endpoint accepts connections", "check that it runs and that the address is right")
SLOW: Final = Problem("CF002", "The endpoint answers in time", "raise --timeout, or see what keeps it")
TLS: Final = Problem(
    "CF003",
    "The endpoint's certificate is valid for its name",
    "let SSL_CERT_FILE name the certificates of its issuer, or use the name that the certificate is for",
)
NOT_OPENAI: Final = Problem(
    "CF004", "The endpoint answers GET /models as OpenAI's API does", "the base URL ends in /v1, as OpenAI's does"
)
KEY: Final = Problem(
    "CF005", "The endpoint accepts the API key", "name the variable that holds its key with --api-key-env"
)
MODEL: Final = Problem("CF006", "The endpoint serves the model", "name one that it serves with --model")
ADDRESS: Final = Problem("CF007", "Every address is http or https, and holds no secret", "write it as https://HOST/v1")
OPTION: Final = Problem(
    "CF008",
    "Every option can be understood, and so can the variables for certificates and proxies",
    "see constructs-pd conformance --help",
)
BUSY: Final = Problem(
    "CF009", "The endpoint is ready to answer", "wait until the application is running, then try again"
)

PROBLEMS: Final = (DOWN, SLOW, TLS, NOT_OPENAI, KEY, MODEL, ADDRESS, OPTION, BUSY)


class EndpointError(Exception):
    """The endpoint cannot be checked.

    Attributes:
        finding: Why, and what to do.
    """

    def __init__(self, problem: Problem, subject: str, message: str, remedy: str | None = None) -> None:
        self.finding = Finding(
            problem.code, Severity.ERROR, subject, message, remedy or problem.remedy, "constructs-pd conformance"
        )
        super().__init__(self.finding.render())


def as_endpoint_error(error: Exception, base_url: str, timeout_seconds: float) -> EndpointError:
    """Return what a failed request means for somebody who only knows the address."""
    shown = short(str(error))
    if "CERTIFICATE_VERIFY_FAILED" in shown:
        return EndpointError(TLS, base_url, f"its certificate is refused: {shown}")
    if any(isinstance(cause, ssl.SSLError) for cause in _causes(error)):
        return EndpointError(TLS, base_url, f"it speaks no TLS: {shown}", "perhaps http:// is meant")
    if isinstance(error, httpx.InvalidURL | UnicodeError):
        return EndpointError(ADDRESS, base_url, f"it, or its proxy's address, is none: {shown}")
    if isinstance(error, httpx.TimeoutException):
        return EndpointError(SLOW, base_url, f"no answer within {timeout_seconds:g} s")
    if isinstance(error, httpx.ConnectError):
        return EndpointError(DOWN, base_url, f"no connection: {shown}")
    return EndpointError(NOT_OPENAI, base_url, f"its answer could not be read: {shown}")


def short(text: str, characters: int = 300) -> str:
    """Return text on one line, shortened to so many characters."""
    line = re.sub(r"\s+", " ", text).strip()
    return line if len(line) <= characters else f"{line[:characters]}..."


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
