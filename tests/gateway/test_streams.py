"""Streams: unbuffered, many at once, silent, given up, and through the end of a gateway."""

from __future__ import annotations

import socket
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from support.dns_stub import answering
from support.gateway import KEY, PATH, RunningGateway, running_gateway, wait_for
from support.serve_stub import ServeStub

STREAMS = 100


def test_tokens_leave_as_they_come(gateway: RunningGateway) -> None:
    with gateway.stream(chunks=5, pause=0.2) as stream:
        assert stream.headers["content-type"] == "text/event-stream"
        times = [time.monotonic() for line in stream.iter_lines() if line]
    # They take 0.8 seconds, and would come together from a buffer.
    assert times[4] - times[0] > 0.4


def test_many_at_once(gateway: RunningGateway) -> None:
    def events(_: int) -> int:
        with gateway.stream(chunks=10, pause=0.1) as stream:
            return sum(line.startswith("data: ") for line in stream.iter_lines())

    with ThreadPoolExecutor(STREAMS) as threads:
        assert list(threads.map(events, range(STREAMS))) == [11] * STREAMS


@pytest.mark.parametrize("stream", [False, True])
def test_silence_that_is_allowed(tmp_path: Path, stub: ServeStub, stream: bool) -> None:
    with running_gateway(tmp_path, stub.address, silence_seconds=6, header_seconds=1, check_seconds=1) as gateway:
        # Longer than a client may take for the head of a request: it is over, and only Serve is waited for.
        answer = gateway.post(stream=stream, chunks=2, pause=2)
        assert answer.status_code == 200
        assert not stream or answer.text.endswith("data: [DONE]\n\n")


def test_silence_that_is_not(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, silence_seconds=1) as gateway:
        answer = gateway.post(pause=2)
        assert (answer.status_code, answer.json()["error"]["type"]) == (504, "server_error")
        with pytest.raises(httpx.RemoteProtocolError, match="peer closed connection"):
            gateway.post(stream=True, chunks=2, pause=2)


def test_who_hangs_up_before_the_first_token_keeps_no_engine_busy(gateway: RunningGateway, stub: ServeStub) -> None:
    before, body = stub.hung_up, b'{"pause": 20}'
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    asked = len(stub.received)
    with socket.create_connection(("127.0.0.1", gateway.port)) as connection:
        connection.sendall(head.encode() + body)
        wait_for(lambda: len(stub.received) == asked + 1)
    wait_for(lambda: stub.hung_up == before + 1, 3)


def test_who_hangs_up_in_a_stream_ends_it(gateway: RunningGateway, stub: ServeStub) -> None:
    before = stub.hung_up
    with gateway.stream(chunks=1000, pause=0.05) as stream:
        next(stream.iter_lines())
    wait_for(lambda: stub.hung_up == before + 1, 3)


def test_a_client_that_reads_slowly_holds_up_nobody(gateway: RunningGateway) -> None:
    body = b'{"stream": true, "chunks": 20000}'
    head = f"POST {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {KEY}\r\nContent-Length: {len(body)}\r\n\r\n"
    with socket.create_connection(("127.0.0.1", gateway.port)) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(head.encode() + body)
        time.sleep(0.3)
        begun = time.monotonic()
        assert gateway.post().status_code == 200
        assert time.monotonic() - begun < 1


def test_a_stream_outlives_the_end_of_its_gateway(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address) as gateway:
        with gateway.stream(chunks=10, pause=0.1) as stream:
            lines = stream.iter_lines()
            next(lines)
            gateway.stop_softly()
            with pytest.raises(httpx.ConnectError):
                wait_for(lambda: gateway.post() is None, 2)
            assert sum(line.startswith("data: ") for line in lines) == 10
        gateway.process.wait(5)
        assert gateway.process.returncode == 0


def test_what_does_not_end_is_cut_and_the_gateway_ends_by_itself(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, hard_stop_seconds=1) as gateway:
        with gateway.stream(chunks=2, pause=20) as stream:
            lines = stream.iter_lines()
            next(lines)
            gateway.stop_softly()
            with pytest.raises(httpx.RemoteProtocolError, match="peer closed connection"):
                list(lines)
        gateway.process.wait(5)


def test_the_server_is_not_there_yet(tmp_path: Path, stub: ServeStub) -> None:
    """Its Service appears when Serve is ready: the gateway starts without it, and finds it by itself."""
    host, port = "llm-serve-svc.inference.svc.cluster.local", stub.address.rpartition(":")[2]
    with (
        answering(host) as dns,
        running_gateway(tmp_path, f"{host}:{port}", nameserver=dns.address, check_seconds=1) as gateway,
    ):
        answer = gateway.post()
        assert (answer.status_code, answer.json()["error"]["message"]) == (503, "The model server is not ready.")
        dns.address_of_host = "127.0.0.1"
        wait_for(lambda: gateway.post().status_code == 200, 15)


def test_a_server_that_is_not_well_is_not_asked(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, check_seconds=1) as gateway:
        stub.healthy = False
        try:
            wait_for(lambda: gateway.post().status_code == 503)
        finally:
            stub.healthy = True
        wait_for(lambda: gateway.post().status_code == 200)
