"""How a request ends for its client, against a server that ends them in every way."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from constructs_pd.rehearsal import load
from constructs_pd.rehearsal.load import Load, request
from constructs_pd.rehearsal.questions import Answer, completion

USAGE = {"prompt_tokens": 3, "completion_tokens": 2}


def chunk(text: str, finish_reason: str | None = None) -> bytes:
    return event({"choices": [{"text": text, "finish_reason": finish_reason}]})


def event(data: Any) -> bytes:
    return f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n".encode()


STREAMS = {
    "right": [chunk("a"), chunk("b", "length"), event({"choices": [], "usage": USAGE}), event("[DONE]")],
    "cut": [chunk("a")],
    "unfinished": [chunk("a"), event("[DONE]")],
    "error": [chunk("a"), event({"error": {"message": "lost"}})],
    "no JSON": [chunk("a"), event("{")],
}


class Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        kind = body["model"]
        if kind == "status":
            self.send_error(500, "lost")
        elif kind == "nothing":
            self.connection.shutdown(socket.SHUT_RDWR)
        elif body.get("stream"):
            assert body["stream_options"] == {"include_usage": True}
            self.send_response(200)
            self.end_headers()
            for part in STREAMS.get(kind, [chunk("a")]):
                self.wfile.write(part)
            self.wfile.flush()
            if kind == "silent":
                time.sleep(1)
        else:
            time.sleep(1 if kind == "silent" else 0)
            choice = {"text": "ab", "finish_reason": "length"}
            text = json.dumps({"choices": [choice], "usage": USAGE}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)

    def log_message(self, *arguments: object) -> None:
        return


@pytest.fixture
def port() -> Iterator[int]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


@pytest.mark.parametrize(
    ("kind", "streamed", "ending", "answer"),
    [
        ("right", True, "answered", Answer("ab", "length", 3, 2)),
        ("right", False, "answered", Answer("ab", "length", 3, 2)),
        ("cut", True, "stream ended early", Answer("a")),
        ("unfinished", True, "stream ended early", Answer("a")),
        ("error", True, "error within the stream", Answer("a")),
        ("no JSON", True, "stream ended early", Answer("a")),
        ("silent", True, "stream silent for 0 s", Answer("a")),
        ("silent", False, "no answer within 0 s", Answer()),
        ("status", True, "status 500", Answer()),
        ("nothing", False, "connection ended without an answer", Answer()),
        ("nothing", True, "connection ended without an answer", Answer()),
    ],
)
def test_each_ending_has_its_words(
    kind: str, ending: str, answer: Answer, port: int, monkeypatch: pytest.MonkeyPatch, *, streamed: bool
) -> None:
    if kind == "silent":
        monkeypatch.setattr(load, "PATIENCE_SECONDS", 0.2)
    ended = request(port, completion(kind, "one", 3, 0, 2), streamed=streamed)
    assert (ended.ending, ended.answer) == (ending, answer)
    assert ended.is_answered is (ending == "answered")
    assert ended.begun <= ended.ended


def test_nobody_listens() -> None:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        ended = request(bound.getsockname()[1], completion("own", "one", 3, 0, 2), streamed=True)
    assert ended.ending == "connection refused"


def test_requests_come_at_even_distances_half_of_them_streamed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "INTERVAL_SECONDS", 0.02)
    with Load(port, "right", 100, 4096) as running:
        while len(running.ended()) < 10:
            time.sleep(0.01)
    ended = running.ended()
    assert {each.ending for each in ended} == {"answered"}
    assert [each.streamed for each in ended[:4]] == [True, False, True, False]
    assert [each.question.name for each in ended[:2]] == ["request 100", "request 101"]
    assert len({json.dumps(each.question.body["prompt"]) for each in ended}) == len(ended)
    assert {len(each.question.body["prompt"]) for each in ended} == {40, 129, 300, 513}


def test_what_goes_wrong_waits_for_no_answer(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "INTERVAL_SECONDS", 0.02)
    interrupted_at: list[float] = []

    def interrupt(running: Load) -> None:
        while running.waits_since() is None:
            time.sleep(0.01)
        interrupted_at.append(time.monotonic())
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt), Load(port, "silent", 1, 4096) as running:
        interrupt(running)
    assert time.monotonic() - interrupted_at[0] < 0.9  # the server answers after a second


def test_no_more_wait_than_are_allowed(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "INTERVAL_SECONDS", 0.01)
    monkeypatch.setattr(load, "MOST_AT_ONCE", 3)
    with Load(port, "silent", 1, 4096) as running:
        time.sleep(0.5)
        assert running.ended() == []
    assert 1 <= len(running.ended()) <= 4


def test_no_prompt_is_longer_than_the_context(port: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load, "INTERVAL_SECONDS", 0.02)
    with Load(port, "right", 0, 200) as running:
        while len(running.ended()) < 4:
            time.sleep(0.01)
    assert {len(each.question.body["prompt"]) for each in running.ended()} == {40, 129}
