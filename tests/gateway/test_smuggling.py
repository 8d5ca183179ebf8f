"""Requests that two servers could read differently: refused, or passed on in one form only."""

from __future__ import annotations

import pytest

from support.gateway import KEY, PATH, RunningGateway
from support.serve_stub import ServeStub

AUTHORIZATION = f"Authorization: Bearer {KEY}\r\n"
OPEN_HEAD = f"POST {PATH} HTTP/1.1\r\nHost: a\r\n{AUTHORIZATION}"
# Closed after the answer, so that nobody waits for another one.
HEAD = f"{OPEN_HEAD}Connection: close\r\n"
INNER = f"GET /smuggled HTTP/1.1\r\nHost: a\r\n{AUTHORIZATION}\r\n"
CHUNKED_INNER = f"{len(INNER):x}\r\n{INNER}\r\n0\r\n\r\n"

REFUSED = {
    "CL.TE": (f"{HEAD}Content-Length: 6\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nG", 411),
    "TE.CL": (f"{HEAD}Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n{CHUNKED_INNER}", 411),
    "chunked alone": (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 411),
    "chunked after a tab": (f"{HEAD}Transfer-Encoding:\tchunked\r\n\r\n0\r\n\r\n", 411),
    "chunked in HTTP/1.0": (f"{HEAD}Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n".replace("/1.1", "/1.0"), 411),
    "unknown coding": (f"{HEAD}Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "coding after chunked": (f"{HEAD}Transfer-Encoding: chunked, identity\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "space before the colon": (f"{HEAD}Transfer-Encoding : chunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "folded coding": (f"{HEAD}Transfer-Encoding:\r\n chunked\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "two lengths": (f"{HEAD}Content-Length: 2\r\nContent-Length: {len(INNER)}\r\n\r\n{INNER}", 400),
    "two lengths in one": (f"{HEAD}Content-Length: 2, {len(INNER)}\r\n\r\n{INNER}", 400),
    "length with a sign": (f"{HEAD}Content-Length: +2\r\n\r\n{{}}", 400),
    "negative length": (f"{HEAD}Content-Length: -2\r\n\r\n{{}}", 400),
    "length beyond 64 bits": (f"{HEAD}Content-Length: 99999999999999999999\r\n\r\n{{}}", 400),
    "bare carriage return": (f"{HEAD}A: b\rContent-Length: 50\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "NUL in a header": (f"{HEAD}A: b\0c\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "two hosts": (f"{HEAD}Host: b\r\nContent-Length: 2\r\n\r\n{{}}", 400),
    "host of another URI": (f"{HEAD}Content-Length: 2\r\n\r\n{{}}".replace(PATH, f"http://b{PATH}"), 400),
    "HTTP/0.9": ("GET /v1/models\r\n\r\n", 400),
    "HTTP/2 without TLS": ("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400),
}
# What HAProxy reads in one way only, and passes on in a form that leaves no other.
NORMALIZED = {
    "equal lengths": f"{HEAD}Content-Length: 2\r\nContent-Length: 2\r\n\r\n{{}}",
    "equal lengths in one": f"{HEAD}Content-Length: 2, 2\r\n\r\n{{}}",
    "folded header": f"{HEAD}A: b\r\n Content-Length: 50\r\nContent-Length: 2\r\n\r\n{{}}",
    "bare line feed": f"{HEAD}A: b\nContent-Length: 2\r\n\r\n{{}}",
    "bare line feeds only": f"{HEAD}A: b\nContent-Length: 2\r\n\r\n{{}}".replace("\r\n", "\n"),
}


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
