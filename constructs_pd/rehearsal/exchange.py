"""JSON over HTTP to this machine, with the standard library: proxies of the environment are not asked."""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException
from typing import Any

from constructs_pd.rehearsal.nodes import NODE_ADDRESS


class NoAnswerError(Exception):
    """Nothing answers, or not what was asked for."""


def exchange(
    port: int,
    method: str,
    path: str,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    timeout_seconds: float = 30.0,
) -> tuple[int, str]:
    """Send a request and return the answer's status and text.

    Raises:
        NoAnswerError: There is no answer.
    """
    connection = HTTPConnection(NODE_ADDRESS, port, timeout=timeout_seconds)
    try:
        payload = None if body is None else json.dumps(body)
        connection.request(method, path, payload, {"Content-Type": "application/json", **(headers or {})})
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", errors="replace")
    except (OSError, HTTPException) as error:
        raise NoAnswerError(f"{method} {path} on port {port}: {str(error) or type(error).__name__}") from None
    finally:
        connection.close()


def as_json(status: int, text: str) -> Any:
    """Return the value of a successful answer.

    Raises:
        NoAnswerError: The status says otherwise, or it is no JSON.
    """
    if status >= 300:
        raise NoAnswerError(f"status {status}: {text[:2000]}")
    try:
        return json.loads(text)
    except ValueError:
        raise NoAnswerError(f"no JSON: {text[:2000]}") from None
