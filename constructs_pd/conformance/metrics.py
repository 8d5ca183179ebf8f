"""What the engines themselves count of the hand-over, from their Prometheus pages."""

from __future__ import annotations

import re
import socket
import time
from typing import Final
from urllib.parse import urlsplit

import httpx

from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError
from constructs_pd.conformance.problems import short
from constructs_pd.conformance.session import Session

# A histogram of vLLM 0.26.0 (nixl/stats.py), as vLLM exposes it and as Ray does (vLLM's v1/metrics/ray_wrappers.py;
# Ray 2.58.0 serve_llm_dashboard_panels.py).
BYTES: Final = "nixl_bytes_transferred_sum"
_LINE: Final = re.compile(rf"^(?:ray_vllm_|vllm:){BYTES}(?:\{{.*\}})? +(\S+)", re.MULTILINE)
# vLLM hands what a step received to Ray with that step (kv_connector_model_runner_mixin.py), and Ray's processes hand
# it to their node's agent, whose page this is, every 10 s: metrics_report_interval_ms of Ray 2.58.0, as
# ray._config.metrics_report_interval_ms() says (2026-11-30). Six times that.
WAIT_SECONDS: Final = 60
PAUSE_SECONDS: Final = 2


def transferred_bytes(session: Session) -> float:
    """Return how many bytes all engines behind the metrics address have received so far.

    Raises:
        NotSupportedError: No metrics address is stated.
        CheckFailedError: A page cannot be read.
    """
    return sum(sum(map(float, _LINE.findall(_page(session, url)))) for url in _addresses(session.settings.metrics_url))


def grown_bytes(session: Session, before: float) -> float:
    """Return how many bytes more there are than before, as soon as there are any, or 0 after WAIT_SECONDS."""
    end = time.monotonic() + min(WAIT_SECONDS, session.endpoint.remaining_seconds)
    while True:
        grown = transferred_bytes(session) - before
        if grown != 0 or time.monotonic() >= end:
            return grown
        time.sleep(PAUSE_SECONDS)


def _addresses(url: str | None) -> list[str]:
    """Return the page of each engine: a headless Service's name has an address for each of its pods."""
    if url is None:
        raise NotSupportedError("--metrics-url was not given")
    parts = urlsplit(url)
    try:
        found = socket.getaddrinfo(parts.hostname, parts.port or 80, type=socket.SOCK_STREAM)
    except (OSError, ValueError) as error:
        raise CheckFailedError(f"an address for {url}", str(error)) from None
    hosts = sorted({str(address[4][0]) for address in found})
    return [
        parts._replace(netloc=f"{f'[{host}]' if ':' in host else host}:{parts.port or 80}").geturl() for host in hosts
    ]


def _page(session: Session, url: str) -> str:
    # The key belongs to the endpoint, so its client is not used here.
    try:
        answer = httpx.get(url, timeout=max(session.endpoint.request_seconds, 0.001))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CheckFailedError(f"a page of metrics at {url}", f"{type(error).__name__}: {error}") from None
    if answer.status_code != httpx.codes.OK:
        raise CheckFailedError(f"a page of metrics at {url}", f"{answer.status_code} {short(answer.text)}")
    return answer.text
