"""What a key may do: requests in a minute, requests at once, the size of a body."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from gateway.conftest import HEADER_SECONDS, MAX_BODY_BYTES
from support.gateway import (
    CLIENT,
    KEY,
    OTHER_KEY,
    PATH,
    RunningGateway,
    bearer,
    line_of,
    received,
    running_gateway,
    wait_for,
)
from support.serve_stub import ServeStub, serving

HEAD = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {KEY}\r\n"
OPEN_HEAD = HEAD.replace("Connection: close\r\n", "")


def error_of(answer: httpx.Response) -> tuple[int, str, str]:
    error = answer.json()["error"]
    return answer.status_code, error["code"], error["message"]


def answer_of(raw: bytes) -> tuple[int, str]:
    """Return the status and the error's code of an answer as it came."""
    head, _, body = raw.partition(b"\r\n\r\n")
    return int(head.split()[1]), json.loads(body)["error"]["code"]


def test_requests_in_a_minute(tmp_path: Path, stub: ServeStub) -> None:
    keys = line_of("search", KEY) + line_of("mail", OTHER_KEY)
    with running_gateway(tmp_path, stub.address, keys, requests_per_minute=5, retry_after_seconds=12) as gateway:
        before = len(stub.received)
        answers = [gateway.post() for _ in range(8)]
        assert [answer.status_code for answer in answers] == [200] * 5 + [429] * 3
        assert error_of(answers[-1]) == (
            429,
            "rate_limit_exceeded",
            "Too many requests in a minute with this API key.",
        )
        assert answers[-1].headers["retry-after"] == "12"
        assert len(stub.received) == before + 5
        assert gateway.post(OTHER_KEY).status_code == 200


def test_two_keys_of_one_name_have_one_limit(tmp_path: Path, stub: ServeStub) -> None:
    keys = line_of("search", KEY) + line_of("search", OTHER_KEY)
    with running_gateway(tmp_path, stub.address, keys, requests_per_minute=4) as gateway:
        statuses = [gateway.post(key).status_code for key in (KEY, OTHER_KEY) * 3]
        assert statuses == [200] * 4 + [429] * 2


def test_a_new_list_of_keys_forgets_no_count(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, line_of("search", KEY), requests_per_minute=3) as gateway:
        assert [gateway.post().status_code for _ in range(4)] == [200, 200, 200, 429]
        gateway.write_keys(line_of("search", OTHER_KEY))
        time.sleep(1.2)
        assert gateway.post(KEY).status_code == 401
        assert gateway.post(OTHER_KEY).status_code == 429


def test_requests_at_once(tmp_path: Path, stub: ServeStub) -> None:
    keys = line_of("search", KEY) + line_of("mail", OTHER_KEY)
    with running_gateway(tmp_path, stub.address, keys, concurrent_requests=3) as gateway:
        with ExitStack() as running:
            for _ in range(3):
                running.enter_context(gateway.stream(chunks=1000, pause=0.05))
            refused = [gateway.post() for _ in range(3)]
            assert {error_of(answer) for answer in refused} == {
                (429, "rate_limit_exceeded", "Too many requests at once with this API key.")
            }
            assert refused[0].headers["retry-after"] == "1"
            assert [gateway.post(OTHER_KEY).status_code for _ in range(3)] == [200] * 3
        # They were hung up on.
        wait_for(lambda: gateway.post().status_code == 200)


def test_requests_that_come_at_the_same_moment(tmp_path: Path) -> None:
    with (
        serving() as own,
        running_gateway(tmp_path, own.address, concurrent_requests=3, requests_per_minute=10) as gateway,
    ):
        with ThreadPoolExecutor(40) as threads:
            answers = list(threads.map(lambda _: gateway.post(pause=0.2).status_code, range(40)))
        assert set(answers) == {200, 429}
        assert answers.count(200) <= 10
        assert 1 < own.most_at_once <= 3


def test_a_stream_counts_until_it_has_ended(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, concurrent_requests=1) as gateway:
        with gateway.stream(chunks=3, pause=0.1) as stream:
            assert gateway.post().status_code == 429
            stream.read()
        assert gateway.post().status_code == 200


def body_of(size: int) -> dict[str, Any]:
    empty = len(httpx.Request("POST", "http://a", json={"a": ""}).content)
    return {"a": "b" * (size - empty)}


def test_a_body_of_the_largest_size(gateway: RunningGateway, stub: ServeStub) -> None:
    assert gateway.post(**body_of(MAX_BODY_BYTES)).status_code == 200
    assert len(stub.received[-1].body) == MAX_BODY_BYTES


@pytest.mark.parametrize("size", [MAX_BODY_BYTES + 1, 20_000_000])
def test_a_larger_body(gateway: RunningGateway, stub: ServeStub, size: int) -> None:
    before = len(stub.received)
    assert error_of(gateway.post(**body_of(size))) == (413, "request_too_large", "The request body is too large.")
    assert len(stub.received) == before


def test_a_client_that_asks_first_is_refused_before_it_sends(gateway: RunningGateway) -> None:
    answer = gateway.raw(f"{HEAD}Content-Length: {MAX_BODY_BYTES + 1}\r\nExpect: 100-continue\r\n\r\n".encode())
    assert answer_of(answer) == (413, "request_too_large")


def test_a_body_without_a_length_is_refused_whatever_its_size(gateway: RunningGateway, stub: ServeStub) -> None:
    def chunks() -> Iterator[bytes]:
        for _ in range(3):
            yield b"{}"

    before = len(stub.received)
    answer = CLIENT.post(f"{gateway.url}{PATH}", content=chunks(), headers=bearer(KEY))
    assert error_of(answer) == (411, "length_required", "The request must state its Content-Length.")
    assert len(stub.received) == before


def test_a_body_that_goes_on_after_its_length_is_another_request(gateway: RunningGateway, stub: ServeStub) -> None:
    before = len(stub.received)
    answer = gateway.raw(f"{OPEN_HEAD}Content-Length: 2\r\n\r\n{{}}{'x' * 100}\r\n\r\n".encode())
    assert answer.count(b"HTTP/1.1") == 2
    assert b"400 Bad request" in answer
    assert [received.body for received in stub.received[before:]] == [b"{}"]


@pytest.mark.parametrize("request_line", ["CONNECT a:443", f"TRACE {PATH}"])
def test_a_method_that_opens_a_tunnel_is_refused(gateway: RunningGateway, request_line: str) -> None:
    head = f"Host: a:443\r\nConnection: close\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    assert answer_of(gateway.raw(f"{request_line} HTTP/1.1\r\n{head}".encode())) == (405, "method_not_allowed")


def test_a_head_that_trickles_in_is_given_up(gateway: RunningGateway) -> None:
    begun = time.monotonic()
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=HEADER_SECONDS + 3) as connection:
        connection.sendall(b"POST / HTTP/1.1\r\n")
        for _ in range(4):
            time.sleep(HEADER_SECONDS / 5)
            connection.sendall(b"A: b\r\n")
        assert received(connection).startswith(b"HTTP/1.1 408 ")
    assert HEADER_SECONDS * 0.9 < time.monotonic() - begun < HEADER_SECONDS + 3


def test_who_has_no_key_keeps_no_connection(gateway: RunningGateway) -> None:
    answer = gateway.raw(b"GET /v1/models HTTP/1.1\r\nHost: a\r\n\r\n" * 3, 5)
    assert answer.count(b"HTTP/1.1 401 ") == 1
    assert b"\r\nconnection: close\r\n" in answer


def test_clients_that_take_every_connection_do_not_get_the_gateway_ended(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, max_connections=5, header_seconds=2) as gateway:
        taken = [socket.create_connection(("127.0.0.1", gateway.port)) for _ in range(10)]
        transport = httpx.HTTPTransport(uds=str(tmp_path / "health"))
        with httpx.Client(transport=transport, timeout=1) as kubelet:
            assert [kubelet.get("http://a/-/healthz").status_code for _ in range(3)] == [200] * 3
            assert kubelet.get("http://a/v1/models").status_code == 503
        # They are given up in their turn, five at a time.
        assert gateway.post().status_code == 200
        for connection in taken:
            connection.close()


def test_a_connection_without_a_request_is_closed_without_an_answer(gateway: RunningGateway) -> None:
    assert gateway.raw(b"", HEADER_SECONDS + 3) == b""
