"""Raw HTTP to an endpoint: what it answers to the byte, each request within a time limit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Final

import httpx
from openai import OpenAI

from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, require
from constructs_pd.conformance.problems import short
from constructs_pd.conformance.settings import Settings

DONE: Final = "[DONE]"
HIDDEN: Final = "[redacted]"
# No answer to a check is nearly as long.
LONGEST_BYTES: Final = 64 * 2**20
# An answer that means "not offered here" to a feature that an endpoint may lack.
_NOT_OFFERED: Final = {400, 403, 404, 405, 415, 422, 501}


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
            return json.loads(self.body)
        except (ValueError, RecursionError):
            return None

    @cached_property
    def events(self) -> tuple[bytes, ...]:
        """The data of every server-sent event, in order."""
        lines = self.body.replace(b"\r\n", b"\n").split(b"\n")
        return tuple(line.removeprefix(b"data:").strip() for line in lines if line.startswith(b"data:"))

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
            CheckFailedError: Its status is another than 200.
        """
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
        chunk = json.loads(event.decode("utf-8", "replace"))
    except (ValueError, RecursionError):
        chunk = None
    if not isinstance(chunk, dict) or "error" in chunk:
        shown = event.decode("utf-8", "replace")
        raise CheckFailedError("every event to be a JSON object without an error", shown)
    return chunk


class Endpoint:
    """An endpoint under test.

    No request outlasts `settings.timeout_seconds`, nor all of them together `settings.deadline_seconds`.
    """

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.base_url = settings.base_url.rstrip("/")
        self._end = time.monotonic() + settings.deadline_seconds
        self._client = httpx.Client(
            headers={} if settings.api_key is None else {"Authorization": f"Bearer {settings.api_key}"},
            limits=httpx.Limits(max_connections=settings.concurrent_streams + 1),
            timeout=settings.timeout_seconds,
        )
        self._openai: OpenAI | None = None

    def close(self) -> None:
        """Close every connection."""
        self._client.close()
        if self._openai is not None:
            self._openai.close()

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
            self._openai = OpenAI(base_url=self.base_url, api_key=key, max_retries=0)
        return self._openai.with_options(timeout=max(self.request_seconds, 0.001))

    def get(self, path: str) -> Answer:
        """Return the answer to a GET below the base URL."""
        return self._read("GET", path, None)

    def post(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST of JSON, or of bytes as they are, below the base URL."""
        return self._read("POST", path, body)

    def outside(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST beside the API, at the server's root."""
        return self._read("POST", f"{self.base_url.removesuffix('/v1')}{path}", body)

    def keyless(self, path: str, body: Any) -> Answer:
        """Return the answer to a POST with a wrong key."""
        return self._read("POST", path, body, {"Authorization": "Bearer wrong"})

    def abandon(self, path: str, body: Any) -> int:
        """Start a stream, read its first bytes, hang up and return the status."""
        with self._opened("POST", path, body, {}) as response:
            next(response.iter_raw(), b"")
            return response.status_code

    def _read(self, method: str, path: str, body: Any, headers: dict[str, str] | None = None) -> Answer:
        end = time.monotonic() + self.request_seconds
        with self._opened(method, path, body, headers or {}) as response:
            parts, size = [], 0
            for part in response.iter_bytes():
                parts.append(part)
                size += len(part)
                if size > LONGEST_BYTES:
                    raise httpx.ReadError(f"{method} {path} answers more than {LONGEST_BYTES} bytes")
                # httpx limits each wait; an endpoint that trickles would go on for ever.
                if time.monotonic() > end:
                    raise httpx.ReadTimeout(f"{method} {path} did not end", request=response.request)
            content_type = response.headers.get("content-type", "")
            return Answer(response.status_code, content_type, b"".join(parts), self.settings.api_key)

    @contextmanager
    def _opened(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Iterator[httpx.Response]:
        url = path if path.startswith("http") else f"{self.base_url}{path}"
        content = body if isinstance(body, bytes) or body is None else json.dumps(body).encode()
        sent = {"Content-Type": "application/json", **headers} if content is not None else headers
        seconds = max(self.request_seconds, 0.001)
        with self._client.stream(method, url, content=content, headers=sent, timeout=seconds) as response:
            yield response
