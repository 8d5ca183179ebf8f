"""Raw HTTP to an endpoint: what it answers to the byte, each request within a time limit."""

from __future__ import annotations

import json
import os
import re
import ssl
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any, Final, NoReturn, TypeVar

import httpx
import openai
from openai import OpenAI

from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, RefusedError, require
from constructs_pd.conformance.problems import OPTION, EndpointError, short
from constructs_pd.conformance.settings import Settings
from constructs_pd.conformance.time_limit import within

DONE: Final = "[DONE]"
HIDDEN: Final = "[redacted]"
# No answer to a check is nearly as long.
LONGEST_BYTES: Final = 64 * 2**20
# An answer that means "not offered here" to a feature that an endpoint may lack.
_NOT_OFFERED: Final = {400, 403, 404, 405, 415, 422, 501}
# Where OpenAI's client has its errors from that it raises amid a stream: httpx, or httpx2 in later versions.
CLIENT: Final[Any] = import_module(openai.DefaultHttpxClient.__mro__[-2].__module__.partition(".")[0])
_LINE_END: Final = re.compile(rb"\r\n|\n|\r")
_Read = TypeVar("_Read")


@dataclass(frozen=True)
class Answer:
    """An HTTP answer: status, content type and body as they came; the key that was sent is not shown."""

    status: int
    content_type: str
    body: bytes
    key: str | None = field(default=None, repr=False)

    @cached_property
    def data(self) -> Any:
        """The body as JSON, None where it is none."""
        try:
            return read_json(self.body)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def events(self) -> tuple[bytes, ...]:
        """The data of every server-sent event, in order.

        Lines end with CR, LF or both, and an event's lines of data are one (WHATWG HTML, 9.2.6, 2026-11-30). The last
        event needs no empty line after it: OpenAI's client reads it all the same.
        """
        events: list[bytes] = []
        data: list[bytes] = []
        for line in (*_LINE_END.split(self.body), b""):
            if line.startswith(b"data:"):
                data.append(line.removeprefix(b"data:").strip())
            elif not line and data:
                events.append(b"\n".join(data))
                data = []
        return tuple(events)

    @cached_property
    def chunks(self) -> tuple[Any, ...]:
        """Every event but the last `[DONE]`, as JSON.

        Raises:
            CheckFailedError: One is no JSON object, or is an error.
        """
        self.require_success()
        return tuple(_chunk(event) for event in self.events if event != DONE.encode())

    def require_success(self) -> Answer:
        """Return the answer.

        Raises:
            RefusedError: Its status is 400.
            CheckFailedError: It is another than 200.
        """
        if self.status == httpx.codes.BAD_REQUEST:
            raise RefusedError("status 200", self.shown)
        require(self.status == httpx.codes.OK, "status 200", self.shown)
        return self

    def require_data(self) -> Any:
        """Return the body as a JSON object.

        Raises:
            CheckFailedError: Its status is another than 200, or the body is no JSON object.
        """
        self.require_success()
        require(isinstance(self.data, dict), "a JSON object", self.shown)
        return self.data

    def require_supported(self) -> Answer:
        """Return the answer of a feature that an endpoint may lack.

        Raises:
            NotSupportedError: It is refused.
        """
        if self.status in _NOT_OFFERED:
            raise NotSupportedError(f"refused: {self.shown}")
        return self

    @property
    def shown(self) -> str:
        """Status and the begin of the body, on one line."""
        text = self.body.decode("utf-8", "replace")
        return f"{self.status} {short(text.replace(self.key, HIDDEN) if self.key else text)}"


def _chunk(event: bytes) -> Any:
    try:
        chunk = read_json(event.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        chunk = None
    if not isinstance(chunk, dict) or chunk.get("error") is not None:
        shown = event.decode("utf-8", "replace")
        raise CheckFailedError("every event to be a JSON object without an error", shown)
    return chunk


def read_json(text: bytes | str) -> Any:
    """Return what JSON says.

    Raises:
        ValueError: It is none; NaN and infinities, which Python reads, are none either.
        RecursionError: It is too deep.
    """
    return json.loads(text, parse_constant=_refuse)


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON")


class Endpoint:
    """An endpoint under test.

    No request outlasts `settings.timeout_seconds`, nor all of them together `settings.deadline_seconds`.

    Attributes:
        settings: Which endpoint, and the limits.
        base_url: Where the API begins, without a slash at its end.
        certificates: What servers' certificates are compared with.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.base_url = settings.base_url.rstrip("/")
        self._end = time.monotonic() + settings.deadline_seconds
        self.certificates = _certificates()
        self._client = self._new_client()
        self._openai: OpenAI | None = None
        self._retired: list[httpx.Client | OpenAI] = []

    def close(self) -> None:
        """Close every connection."""
        for client in (self._client, self._openai, *self._retired):
            if client is not None:
                client.close()

    def _new_client(self) -> httpx.Client:
        settings = self.settings
        try:
            return httpx.Client(
                headers={} if settings.api_key is None else {"Authorization": f"Bearer {settings.api_key}"},
                limits=httpx.Limits(max_connections=settings.concurrent_streams + 1),
                timeout=settings.timeout_seconds,
                trust_env=settings.asks_proxies,
                verify=self.certificates,
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:
            remedy = "name an http:// proxy, or except the endpoint's host with NO_PROXY"
            raise EndpointError(OPTION, "HTTP_PROXY, HTTPS_PROXY or ALL_PROXY", short(str(error)), remedy) from None

    @property
    def remaining_seconds(self) -> float:
        """How much of the whole run's time is left."""
        return max(0.0, self._end - time.monotonic())

    @property
    def request_seconds(self) -> float:
        """How long a request that starts now may take."""
        return min(self.settings.timeout_seconds, self.remaining_seconds)

    @property
    def openai(self) -> OpenAI:
        """OpenAI's own client, without its retries: they would hide a fault."""
        if self._openai is None:
            key = self.settings.api_key or "none"
            straight = None if self.settings.asks_proxies else self._without_proxies()
            self._openai = OpenAI(base_url=self.base_url, api_key=key, max_retries=0, http_client=straight)
        return self._openai.with_options(timeout=max(self.request_seconds, 0.001))

    def _without_proxies(self) -> Any:
        return openai.DefaultHttpxClient(trust_env=False, verify=self.certificates)

    def get(self, path: str) -> Answer:
        """Return the answer to a GET below the base URL."""
        return self._read("GET", path, None)

    def post(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST of JSON, or of bytes as they are, below the base URL."""
        return self._read("POST", path, body)

    def outside(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST beside the API, at the server's root."""
        return self._read("POST", f"{self.base_url.removesuffix('/v1')}{path}", body)

    def with_wrong_key(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST with a wrong key."""
        return self._read("POST", path, body, {"Authorization": "Bearer wrong"})

    def abandon(self, path: str, body: Any) -> int:
        """Start a stream, read its first bytes, hang up and return the status."""

        def begin() -> int:
            with self._opened("POST", path, body, {}) as response:
                next(response.iter_raw(), b"")
                return response.status_code

        return self.in_time(begin)

    def in_time(self, read: Callable[[], _Read]) -> _Read:
        """Return what a function reads that sends requests.

        The clients limit each wait only, and an endpoint that sends a byte now and then never lets them wait long.

        Raises:
            httpx.ReadTimeout: It takes longer than a request may.
        """
        try:
            return within(self.request_seconds, read)
        except TimeoutError:
            # The function still holds a connection: its client is closed in the end, and others send what comes next.
            self._retired.append(self._client)
            self._client = self._new_client()
            if self._openai is not None:
                self._retired.append(self._openai)
                self._openai = None
            raise httpx.ReadTimeout("the answer did not end in time") from None

    def _read(self, method: str, path: str, body: Any, headers: dict[str, str] | None = None) -> Answer:
        end = time.monotonic() + self.request_seconds

        def read() -> Answer:
            with self._opened(method, path, body, headers or {}) as response:
                parts, size = [], 0
                for part in response.iter_bytes():
                    parts.append(part)
                    size += len(part)
                    if size > LONGEST_BYTES:
                        raise httpx.ReadError(f"{method} {path} answers more than {LONGEST_BYTES} bytes")
                    # Nobody waits any more.
                    if time.monotonic() > end:
                        raise httpx.ReadTimeout(f"{method} {path} did not end", request=response.request)
                content_type = response.headers.get("content-type", "")
                return Answer(response.status_code, content_type, b"".join(parts), self.settings.api_key)

        return self.in_time(read)

    @contextmanager
    def _opened(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Iterator[httpx.Response]:
        url = f"{self.base_url}{path}" if path.startswith("/") else path
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers} if content is not None else headers
        seconds = max(self.request_seconds, 0.001)
        with self._client.stream(method, url, content=content, headers=sent, timeout=seconds) as response:
            yield response


def _certificates() -> ssl.SSLContext:
    """Return what certificates are compared with.

    Raises:
        EndpointError: The file or folder that the environment names has none.
    """
    try:
        return httpx.create_ssl_context()
    except OSError as error:
        name = next((name for name in ("SSL_CERT_FILE", "SSL_CERT_DIR") if os.environ.get(name)), "certificates")
        message = f"{os.environ.get(name)} cannot be read as certificates: {short(str(error))}"
        raise EndpointError(OPTION, name, message, "name a file of certificates in PEM, or unset it") from None
