"""Traces begin at the gateway, or go on there."""

from __future__ import annotations

import re
from collections.abc import Iterator

import httpx
import pytest

from support.gateway import CLIENT, KEY, PATH, RunningGateway, bearer, running_gateway
from support.serve_stub import Received, ServeStub

OWN = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
BEGUN = re.compile("00-([0-9a-f]{32})-([0-9a-f]{16})-(0[01])")
ALL = 1_000_000


@pytest.fixture(scope="module")
def tracing(stub: ServeStub, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running_gateway(
        tmp_path_factory.mktemp("traces"), stub.address, requests_per_minute=100_000, sampled_per_million=ALL
    ) as running:
        yield running


def asked(gateway: RunningGateway, stub: ServeStub, *headers: tuple[str, str]) -> tuple[Received, httpx.Response]:
    """Send a request, and return what Serve received of it and what the client did."""
    every = [*bearer(KEY).items(), *headers]
    answer = CLIENT.post(f"{gateway.url}{PATH}", json={}, headers=every)
    assert answer.status_code == 200
    return stub.received[-1], answer


def test_a_trace_begins_that_is_found_by_the_requests_id(tracing: RunningGateway, stub: ServeStub) -> None:
    received, answer = asked(tracing, stub)
    (begun,) = received.values("traceparent")
    found = BEGUN.fullmatch(begun)
    assert found is not None
    assert found[1] == answer.headers["x-request-id"].replace("-", "") == tracing.log()[-1]["trace_id"]
    assert found[3] == "01"
    assert asked(tracing, stub)[0].values("traceparent") != [begun]


@pytest.mark.parametrize("own", [OWN, f"{OWN[:-1]}0"])
def test_a_clients_own_goes_on(tracing: RunningGateway, stub: ServeStub, own: str) -> None:
    received, _ = asked(tracing, stub, ("traceparent", own), ("tracestate", "a=b"))
    assert (received.values("traceparent"), received.values("tracestate")) == ([own], ["a=b"])
    assert tracing.log()[-1]["trace_id"] == OWN.split("-")[1]


@pytest.mark.parametrize(
    "headers",
    [
        [("traceparent", "x")],
        [("traceparent", f"{OWN}-more")],
        [("traceparent", OWN.upper())],
        [("traceparent", OWN), ("traceparent", OWN)],
        [("traceparent", f'{OWN[:-2]}"}}')],
    ],
)
def test_what_is_no_trace_is_replaced(tracing: RunningGateway, stub: ServeStub, headers: list[tuple[str, str]]) -> None:
    received, _ = asked(tracing, stub, *headers, ("tracestate", "a=b"))
    (begun,) = received.values("traceparent")
    assert BEGUN.fullmatch(begun)
    assert begun != OWN
    assert received.values("tracestate") == []


def test_of_how_many_a_trace_is_made(stub: ServeStub, tmp_path_factory: pytest.TempPathFactory) -> None:
    with running_gateway(
        tmp_path_factory.mktemp("half"), stub.address, requests_per_minute=100_000, sampled_per_million=ALL // 2
    ) as half:
        flags = [asked(half, stub)[0].values("traceparent")[0][-2:] for _ in range(100)]
    # 20 of 100 at one half: once in a hundred million runs.
    assert 20 < flags.count("01") < 80
    assert set(flags) == {"00", "01"}


def test_without_traces_none_begins(gateway: RunningGateway, stub: ServeStub) -> None:
    received, _ = asked(gateway, stub)
    assert received.values("traceparent") == []
    assert "trace_id" not in gateway.log()[-1]
