"""What the gateway answers by itself: constant bodies in the shape of OpenAI's errors, which its clients understand."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class GatewayError:
    """An answer of the gateway's own.

    Attributes:
        status: HTTP status.
        message: What is wrong, for people. It has no apostrophe, with which HAProxy's configuration quotes it.
        type: OpenAI's kind of error.
        code: OpenAI's code, or none.
    """

    status: int
    message: str
    type: str = "invalid_request_error"
    code: str | None = None

    @property
    def body(self) -> str:
        """The body, one line of JSON."""
        error = {"message": self.message, "type": self.type, "param": None, "code": self.code}
        return json.dumps({"error": error}, ensure_ascii=True)


# OpenAI's API reference, Error codes: 401 invalid_api_key and 429 rate_limit_exceeded (2026-11-30).
NO_KEY: Final = GatewayError(401, "The API key is missing or not in force.", code="invalid_api_key")
TOO_MANY_REQUESTS: Final = GatewayError(
    429, "Too many requests in a minute with this API key.", "requests", "rate_limit_exceeded"
)
TOO_MANY_AT_ONCE: Final = GatewayError(
    429, "Too many requests at once with this API key.", "requests", "rate_limit_exceeded"
)
NOT_SERVED: Final = GatewayError(404, "There is nothing here.", code="not_found")
NO_SUCH_METHOD: Final = GatewayError(405, "This method is not served.", code="method_not_allowed")
NO_LENGTH: Final = GatewayError(411, "The request must state its Content-Length.", code="length_required")
TOO_LARGE: Final = GatewayError(413, "The request body is too large.", code="request_too_large")
# What HAProxy answers where no rule of ours does. A request that it cannot parse, or whose head is late, gets a page of
# HTML instead, which is compiled in (HAProxy 2.8 src/mux_h1.c, h1_send_error); no client of OpenAI's sends one.
OF_THE_PROXY: Final = (
    GatewayError(400, "The request is not well formed."),
    GatewayError(500, "The gateway failed.", "server_error"),
    GatewayError(502, "The model server gave no valid answer.", "server_error"),
    GatewayError(503, "The model server is not ready.", "server_error"),
    GatewayError(504, "The model server did not answer in time.", "server_error"),
)
