"""Requests that two servers could read differently: refused, or passed on in one form only."""

from __future__ import annotations

import pytest

from support.gateway import PATH, RunningGateway
from support.serve_stub import ServeStub
from support.smuggling import AUTHORIZATION, HEAD, INNER, NORMALIZED, OPEN_HEAD, REFUSED


@pytest.mark.parametrize(("request_text", "status"), REFUSED.values(), ids=REFUSED)
def test_refused(gateway: RunningGateway, stub: ServeStub, request_text: str, status: int) -> None:
    before = len(stub.received)
    answer = gateway.raw(request_text.encode())
    assert answer.startswith(f"HTTP/1.1 {status} ".encode())
    # A second request of what came after would have a second answer.
    assert [received.path for received in stub.received[before:]] == []


@pytest.mark.parametrize("request_text", NORMALIZED.values(), ids=NORMALIZED)
def test_passed_on_in_one_form(gateway: RunningGateway, stub: ServeStub, request_text: str) -> None:
    before = len(stub.received)
    answer = gateway.raw(request_text.encode())
    assert answer.startswith(b"HTTP/1.1 200 ")
    (received,) = stub.received[before:]
    assert (received.path, received.body) == (PATH, b"{}")
    assert received.values("content-length") == ["2"]
    assert received.values("transfer-encoding") == []


def test_a_request_in_a_body_stays_a_body(gateway: RunningGateway, stub: ServeStub) -> None:
    before = len(stub.received)
    head = f"GET /v1/models HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{AUTHORIZATION}"
    # Its server does not read the body of a GET: on a connection of its own that harms nobody.
    gateway.raw(f"{head}Content-Length: {len(INNER)}\r\n\r\n{INNER}".encode())
    gateway.post()
    assert [received.path for received in stub.received[before:]] == ["/v1/models", PATH]


def test_requests_in_a_row_reach_serve_on_connections_of_their_own(gateway: RunningGateway, stub: ServeStub) -> None:
    before = len(stub.received)
    one, last = (f"{head}Content-Length: 2\r\n\r\n{{}}" for head in (OPEN_HEAD, HEAD))
    answer = gateway.raw(f"{one}{one}{last}".encode())
    assert answer.count(b"HTTP/1.1 200 OK") == 3
    assert [received.values("connection") for received in stub.received[before:]] == [["close"]] * 3
