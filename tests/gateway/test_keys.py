"""Who is let through, what Serve and the log learn of it, and how keys change while streams run."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest

from support.gateway import (
    CLIENT,
    KEY,
    OTHER_KEY,
    PATH,
    UNKNOWN_KEY,
    RunningGateway,
    line_of,
    running_gateway,
    wait_for,
)
from support.serve_stub import ServeStub

REFUSAL = {
    "error": {
        "message": "The API key is missing or not in force.",
        "type": "invalid_request_error",
        "param": None,
        "code": "invalid_api_key",
    }
}


def asked(gateway: RunningGateway, headers: list[tuple[str, str]]) -> httpx.Response:
    return CLIENT.post(f"{gateway.url}{PATH}", json={}, headers=headers)


@pytest.mark.parametrize("key", [KEY, OTHER_KEY])
def test_every_key_of_the_secret_is_let_through(gateway: RunningGateway, key: str) -> None:
    answer = gateway.post(key)
    assert answer.status_code == 200
    assert answer.json()["object"] == "chat.completion"


@pytest.mark.parametrize("scheme", ["bearer ", "BEARER ", "Bearer  "])
def test_the_scheme_is_read_as_http_says(gateway: RunningGateway, scheme: str) -> None:
    assert asked(gateway, [("Authorization", f"{scheme}{KEY}")]).status_code == 200


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [("Authorization", f"Bearer {UNKNOWN_KEY}")],
        [("Authorization", "Bearer")],
        [("Authorization", KEY)],
        [("Authorization", f"Basic {KEY}")],
        [("Authorization", f"Token {KEY}")],
        [("Authorization", f"Bearer {KEY[:-1]}")],
        [("Authorization", f"Bearer {KEY.upper()}")],
        [("Authorization", f"Bearer {UNKNOWN_KEY}, Bearer {KEY}")],
        [("Authorization", f"Bearer {UNKNOWN_KEY}"), ("Authorization", f"Bearer {KEY}")],
        [("Authorization", f"Bearer {KEY}"), ("Authorization", f"Bearer {KEY}")],
        [("X-Api-Key", KEY)],
        [("Proxy-Authorization", f"Bearer {KEY}")],
    ],
)
def test_nothing_else_is(gateway: RunningGateway, stub: ServeStub, headers: list[tuple[str, str]]) -> None:
    before = len(stub.received)
    answer = asked(gateway, headers)
    assert (answer.status_code, answer.json()) == (401, REFUSAL)
    assert answer.headers["www-authenticate"] == "Bearer"
    assert answer.headers["content-type"] == "application/json"
    assert len(stub.received) == before


def test_a_digest_is_no_key(gateway: RunningGateway) -> None:
    assert gateway.post(line_of("search", KEY).strip().partition(":")[2]).status_code == 401


def test_serve_learns_of_no_key_and_of_the_gateways_own_request_id(gateway: RunningGateway, stub: ServeStub) -> None:
    before = len(stub.received)
    # As it is sent: no client writes all of this.
    answer = gateway.raw(
        f"POST {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {KEY}\r\nProxy-Authorization: Bearer {KEY}\r\n"
        "X-Request-Id: chosen by the client\r\nConnection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\n"
        "HTTP2-Settings: AAMAAABkAAQAAP__\r\nserve_multiplexed_model_id: another\r\n"
        "Content-Length: 2\r\n\r\n{}".encode()
    ).decode()
    (received,) = stub.received[before:]
    assert KEY not in repr(received)
    for name in ("authorization", "proxy-authorization", "upgrade", "http2-settings", "serve_multiplexed_model_id"):
        assert received.values(name) == []
    # What is left of a name that no header has, and what the gateway asks for.
    assert received.values("connection") == ["HTTP2-Settings", "close"]
    (request_id,) = received.values("x-request-id")
    assert f"\r\nx-request-id: {request_id}\r\n" in answer
    assert "chosen" not in request_id


def test_the_log_has_the_name_and_never_the_key(gateway: RunningGateway) -> None:
    answers = [
        gateway.post(OTHER_KEY),
        gateway.post(UNKNOWN_KEY),
        CLIENT.post(f"{gateway.url}{PATH}?api_key={KEY}", json={}),
        asked(gateway, [("Authorization", f"Bearer  {KEY}")]),
        asked(gateway, [("X-Api-Key", KEY)]),
    ]
    ids = [answer.headers["x-request-id"] for answer in answers]
    wait_for(lambda: {line["request_id"] for line in gateway.log()} >= set(ids))
    lines = {line["request_id"]: line for line in gateway.log()}
    assert [lines[number]["key"] for number in ids] == ["mail", "-", "-", "search", "-"]
    assert [lines[number]["status"] for number in ids] == [200, 401, 401, 200, 401]
    assert {lines[number]["path"] for number in ids} == {PATH}
    for key in (KEY, OTHER_KEY, UNKNOWN_KEY):
        assert key not in gateway.output
        assert line_of("", key).strip(":\n") not in gateway.output


def test_a_path_cannot_forge_a_line_of_the_log(gateway: RunningGateway) -> None:
    path = '/v1/"status":200,"key":"admin"'
    gateway.raw(f"POST {path} HTTP/1.1\r\nHost: a\r\nContent-Length: 0\r\nConnection: close\r\n\r\n".encode())
    wait_for(lambda: any(line["path"] == path for line in gateway.log()))
    assert "admin" not in {line["key"] for line in gateway.log()}


def test_health_is_answered_without_a_key_and_nothing_else_is(gateway: RunningGateway) -> None:
    assert CLIENT.get(f"{gateway.url}/-/healthz").status_code == 200
    for path in ("/-/healthz/", "/-/routes", "/v1/models", "/metrics", "/"):
        assert CLIENT.get(f"{gateway.url}{path}").status_code == 401


@pytest.mark.parametrize("path", ["/-/routes", "/%2d/routes", "/-%2froutes", "/%2D%2Fhealthz"])
def test_serves_own_paths_are_not_reached_with_a_key(gateway: RunningGateway, path: str) -> None:
    answer = CLIENT.get(f"{gateway.url}{path}", headers={"Authorization": f"Bearer {KEY}"})
    assert (answer.status_code, answer.json()["error"]["code"]) == (404, "not_found")


def test_keys_change_while_a_stream_runs(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, line_of("search", KEY)) as gateway:
        process = gateway.process.pid
        with gateway.stream(chunks=40, pause=0.1) as stream:
            lines = stream.iter_lines()
            next(lines)
            gateway.write_keys(line_of("search", KEY) + line_of("search", OTHER_KEY))
            wait_for(lambda: gateway.post(OTHER_KEY).status_code == 200)
            assert gateway.post(KEY).status_code == 200
            gateway.write_keys(line_of("search", OTHER_KEY))
            wait_for(lambda: gateway.post(KEY).status_code == 401)
            assert gateway.post(OTHER_KEY).status_code == 200
            assert sum(line.startswith("data: ") for line in lines) == 40  # 39 chunks and [DONE]
        assert gateway.process.pid == process
        assert gateway.process.poll() is None


def test_lines_that_say_nothing_are_named_by_number_and_the_others_are_in_force(
    tmp_path: Path, stub: ServeStub
) -> None:
    digest = line_of("", KEY).strip(":\n")
    keys = (
        "# names and digests\n\n"
        + line_of("search", KEY).upper().replace("SEARCH", "search").replace("\n", "\r\n")
        + f"{KEY}\n"
        + f"mail {digest}\n"
        + f"-mail:{digest}\n"
        + f"mail:{digest}\n"
        + f"{'m' * 64}:{'0' * 64}\n"
        + f"mail:{digest[:-1]}\n"
        + line_of("nobody", "")
        + line_of("team.mail_2", OTHER_KEY).rstrip("\n")
    )
    with running_gateway(tmp_path, stub.address, keys) as gateway:
        assert gateway.post(KEY).status_code == 200
        assert gateway.post(OTHER_KEY).status_code == 200
        wait_for(lambda: [line["key"] for line in gateway.log()] == ["search", "team.mail_2"])
        assert gateway.raw(f"POST {PATH} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer \r\n\r\n".encode()).startswith(
            b"HTTP/1.1 401 "
        )
        assert "API keys: 2 in force, refused lines: 4, 5, 6, 7, 8, 9, 10\n" in gateway.output
        assert KEY not in gateway.output


def test_without_keys_nobody_is_let_through(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, "") as gateway:
        assert gateway.post(KEY).status_code == 401
        gateway.write_keys(line_of("search", KEY))
        wait_for(lambda: gateway.post(KEY).status_code == 200)
        (tmp_path / "keys").unlink()
        wait_for(lambda: gateway.post(KEY).status_code == 401)
        assert "API keys: 0 in force, the file cannot be read\n" in gateway.output


def test_a_line_under_another_name_counts_for_that_name(tmp_path: Path, stub: ServeStub) -> None:
    with running_gateway(tmp_path, stub.address, line_of("search", KEY)) as gateway:
        gateway.post()
        gateway.write_keys(line_of("mail", KEY))
        wait_for(lambda: gateway.post().status_code == 200 and gateway.log()[-1]["key"] == "mail", 30)
