"""What the engines themselves count of the hand-over, from their Prometheus pages."""

from __future__ import annotations

import re
import socket
import time
from collections.abc import Mapping
from typing import Final
from urllib.parse import urlsplit

import httpx

from constructs_pd.conformance.address import port_of
from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError
from constructs_pd.conformance.problems import short
from constructs_pd.conformance.session import Session

# A histogram of vLLM 0.26.0 (nixl/stats.py), as vLLM exposes it and as Ray does (vLLM's v1/metrics/ray_wrappers.py;
# Ray 2.58.0 serve_llm_dashboard_panels.py).
BYTES: Final = "nixl_bytes_transferred_sum"
_LINE: Final = re.compile(rf"^(?:ray_vllm_|vllm:){BYTES}(?:\{{.*\}})? +(\S+)", re.MULTILINE)
# Any metric of vLLM's own page, or of Ray's.
_ENGINE: Final = re.compile("^(?:ray_|vllm:)", re.MULTILINE)
# vLLM hands what a step received to Ray with that step (kv_connector_model_runner_mixin.py), and Ray's processes hand
# it to their node's agent, whose page this is, every 10 s: metrics_report_interval_ms of Ray 2.58.0, as
# ray._config.metrics_report_interval_ms() says (2026-11-30). Six times that.
WAIT_SECONDS: Final = 60
PAUSE_SECONDS: Final = 2


class _NoConnectionError(CheckFailedError):
    """Nobody listens at an address."""


def transferred_bytes(session: Session) -> dict[str, float]:
    """Return how many bytes the engines behind the metrics address have received so far.

    By the address of each page; one that has no count is left out.

    Raises:
        NotSupportedError: No metrics address is stated.
        CheckFailedError: A page cannot be read, or is no engine's.
    """
    url = session.settings.metrics_url
    if url is None:
        raise NotSupportedError("--metrics-url was not given")
    found = {address: _LINE.findall(page) for address, page in _pages(session, url).items()}
    return {address: sum(map(float, values)) for address, values in found.items() if values}


def grown_bytes(session: Session, before: Mapping[str, float]) -> float | None:
    """Return how many bytes more there are than before, as soon as there are any, or after WAIT_SECONDS.

    None says that there still is no count: an engine has one from its first hand-over on. An engine that had none, or
    was not there, had received nothing; what one had received that is gone is not missed.
    """
    end = time.monotonic() + min(WAIT_SECONDS, session.endpoint.remaining_seconds)
    while True:
        now = transferred_bytes(session)
        grown = sum(count - before.get(address, 0) for address, count in now.items()) if now else None
        if grown or time.monotonic() >= end:
            return grown
        time.sleep(PAUSE_SECONDS)


def _pages(session: Session, url: str) -> dict[str, str]:
    """Return each engine's page by its address, without those at whose address nobody listens, if another answers."""
    refusals: list[_NoConnectionError] = []
    for addresses in _addresses(url):
        pages = {}
        for address in addresses:
            try:
                pages[address] = _page(session, url, address)
            except _NoConnectionError as refusal:
                refusals.append(refusal)
        if pages:
            return pages
    raise refusals[0]


def _addresses(url: str) -> list[list[str]]:
    """Return the page of each engine: a headless Service's name has an address for each of its pods.

    By the family of the addresses, IPv4 first: a pod may have one of each, and its bytes count once.
    """
    parts = urlsplit(url)
    port = port_of(parts)
    try:
        found = socket.getaddrinfo(parts.hostname, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise CheckFailedError(f"an address for {url}, which --metrics-url names", str(error)) from None
    hosts = sorted({str(address[4][0]) for address in found})
    families = [host for host in hosts if ":" not in host], [f"[{host}]" for host in hosts if ":" in host]
    return [[parts._replace(netloc=f"{host}:{port}").geturl() for host in family] for family in families if family]


def _page(session: Session, url: str, address: str) -> str:
    expected = f"a page of an engine's metrics at {address}, which --metrics-url names"
    parts = urlsplit(url)

    def read() -> httpx.Response:
        # The key belongs to the endpoint, so its client is not used here. Nor is a proxy: the page is asked for by an
        # address, which NO_PROXY does not name where it names the host.
        seconds, certificates = max(session.endpoint.request_seconds, 0.001), session.endpoint.certificates
        with httpx.Client(timeout=seconds, verify=certificates, trust_env=False) as client:
            # A server, and its certificate, may know its name only.
            return client.get(address, headers={"Host": parts.netloc}, extensions={"sni_hostname": parts.hostname})

    try:
        answer = session.endpoint.in_time(read)
    except httpx.ConnectError as error:
        raise _NoConnectionError(expected, f"{type(error).__name__}: {error}") from None
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise CheckFailedError(expected, f"{type(error).__name__}: {error}") from None
    if answer.status_code != httpx.codes.OK or _ENGINE.search(answer.text) is None:
        raise CheckFailedError(expected, f"{answer.status_code} {short(answer.text)}")
    return answer.text
