"""What cannot be checked is said in one message, with what to do, and nobody sees a traceback or a key."""

from __future__ import annotations

import json
import socket
import sys
import time
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import httpx
import pytest

from constructs_pd.cli.main import main
from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.endpoint import Endpoint
from constructs_pd.conformance.outcome import Status
from constructs_pd.conformance.run import run, store_answers
from constructs_pd.conformance.session import Session
from constructs_pd.conformance.settings import Settings
from support.certificates import self_signed
from support.openai_stub import MODEL, Stub, running, served

KEY = "a-key-that-nobody-may-see"
NO_HTTP = ("localhost:8000/v1", "file:///etc/passwd", "https://", "ftp://host/v1", "http://[::1")
NO_HOSTS = ("http://a..b/v1", f"http://{'a' * 64}.example/v1", "http://host:99999/v1", "http://host:0/v1")


def complaint(capsys: pytest.CaptureFixture[str], url: str, *options: str) -> str:
    assert main(["conformance", "--base-url", url, "--model", MODEL, *options]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    return shown.err


def answering(status: int, content_type: str, body: bytes, posted: bytes | None = None) -> type[BaseHTTPRequestHandler]:
    """Return a server that answers everything the same, or a POST otherwise."""

    class Same(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.answer(body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.answer(body if posted is None else posted)

        def answer(self, data: bytes) -> None:
            self.send_response(status)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Same


def trickling(begin: bytes, part: bytes) -> type[BaseHTTPRequestHandler]:
    """Return a server that sends a part now and then, for ever: every wait is short, and there is no end."""

    class Trickling(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.wfile.write(begin)
            while True:
                self.wfile.write(part)
                time.sleep(0.05)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Trickling


def test_an_endpoint_that_is_down(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and does not listen
        shown = complaint(capsys, f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
    assert shown.startswith("CF001 error http://127.0.0.1:")
    assert "check that it runs" in shown


def test_an_endpoint_that_does_not_answer_in_time(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub(delay_seconds=2)) as url:
        shown = complaint(capsys, url, "--timeout", "0.2")
    assert "no answer within 0.2 s" in shown
    assert shown.startswith("CF002")


@pytest.mark.parametrize(
    ("status", "content_type", "body", "code"),
    [
        (200, "text/html", b"<html><body>Sign in</body></html>", "CF004"),
        (200, "application/json", b'{"hello": "world"}', "CF004"),
        (200, "application/json", b"[]", "CF004"),
        (200, "application/json", b"\xff\xfe", "CF004"),
        (404, "application/json", b'{"detail": "Not Found"}', "CF004"),
        (302, "text/html", b"", "CF004"),
        (401, "application/json", b"{}", "CF005"),
        (403, "text/html", b"forbidden", "CF005"),
        (429, "application/json", b"{}", "CF009"),
        (500, "text/plain", b"Internal Server Error", "CF004"),
        (503, "text/html", b"no healthy upstream", "CF009"),
    ],
)
def test_an_endpoint_that_is_another(
    status: int, content_type: str, body: bytes, code: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(answering(status, content_type, body)) as url:
        shown = complaint(capsys, url)
    assert shown.startswith(f"{code} error {url}: GET /models answers '{status}")


def test_an_endpoint_that_fails_is_not_told_to_end_in_v1(capsys: pytest.CaptureFixture[str]) -> None:
    with served(answering(500, "text/plain", b"Internal Server Error")) as url:
        assert "see the endpoint's own log" in complaint(capsys, url)


@pytest.mark.parametrize("begin", [b"HTTP/1.1 200 OK\r\nX-Long: ", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_an_answer_that_trickles_in_its_head_or_body_ends_in_time(
    begin: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    with served(trickling(begin, b"a")) as url:
        started = time.monotonic()
        assert complaint(capsys, url, "--timeout", "0.3").startswith("CF002")
    assert time.monotonic() - started < 20


@pytest.mark.parametrize("check", ["CF105", "CF203", "CF312"])
def test_a_stream_to_openais_client_that_trickles_ends_in_time(check: str) -> None:
    chunk = b'data: {"id": "1", "object": "x", "created": 1, "model": "stub", "choices": []}\n\n'
    head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
    handler = trickling(head, chunk if check == "CF312" else b" ")
    with served(handler) as url:
        settings = Settings(f"{url}/v1", MODEL, timeout_seconds=0.5)
        endpoint = Endpoint(settings)
        try:
            (chosen,) = (one for one in CHECKS if one.id == check)
            with pytest.raises(httpx.TimeoutException):
                chosen.run(Session(settings, endpoint))
        finally:
            endpoint.close()


@pytest.mark.parametrize("content", [None, "no certificate"])
def test_a_file_of_certificates_that_is_none(
    content: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "issuer.pem"
    if content is not None:
        path.write_text(content, encoding="utf-8")
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    shown = complaint(capsys, "https://127.0.0.1:1/v1")
    assert shown.startswith(f"CF008 error SSL_CERT_FILE: {path} cannot be read as certificates")


@pytest.mark.parametrize(
    ("proxy", "code"),
    [("socks5://127.0.0.1:1", "CF008"), ("other://127.0.0.1:1", "CF008"), ("http://a..b:1", "CF007")],
)
def test_a_proxy_that_cannot_be_used(
    proxy: str, code: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALL_PROXY", proxy)
    assert complaint(capsys, "http://host.invalid/v1").startswith(code)


def test_a_certificate_that_nobody_trusts(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    context, _ = self_signed(tmp_path)
    with running(Stub(), context) as url:
        shown = complaint(capsys, url)
    assert shown.startswith(f"CF003 error {url}: its certificate is refused")
    assert "SSL_CERT_FILE" in shown


def test_a_certificate_whose_issuer_is_named_is_trusted_by_raw_requests_and_by_the_client(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    context, path = self_signed(tmp_path)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    with running(Stub(), context) as url:
        assert main(["conformance", "--base-url", url, "--model", MODEL, "--only", "CF10*"]) == 0
    assert "CF105 passed" in capsys.readouterr().out


def test_https_to_a_server_without_it(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        shown = complaint(capsys, url.replace("http:", "https:"))
    assert "it speaks no TLS" in shown
    assert "perhaps http:// is meant" in shown


def test_http_to_a_server_of_https(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    context, _ = self_signed(tmp_path)
    with running(Stub(), context) as url:
        assert complaint(capsys, url.replace("https:", "http:")).startswith("CF00")


def test_a_wrong_key_is_named_by_its_variable_and_never_shown(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUB_KEY", KEY)
    with running(Stub(api_key="another")) as url:
        shown = complaint(capsys, url, "--api-key-env", "STUB_KEY")
    assert shown.startswith("CF005")
    assert "[redacted]" in shown  # the server repeats it
    assert KEY not in shown


def test_a_key_that_the_endpoint_repeats_in_an_answer_is_hidden() -> None:
    with running(Stub(api_key=KEY)) as url:
        report = run(Settings(url, MODEL, KEY))
    assert KEY not in repr(report)
    assert KEY not in repr(Settings(url, MODEL, KEY))


@pytest.mark.parametrize("before", range(270, 310, 3))
def test_no_part_of_a_key_is_shown_where_a_long_answer_is_cut(before: int) -> None:
    listed = b'{"object": "list", "data": [{"id": "stub"}]}'
    with served(answering(200, "application/json", listed, b"." * before + KEY.encode())) as url:
        report = run(Settings(url, MODEL, KEY))
    assert KEY[:6] not in repr(report)


def test_a_key_that_no_header_can_hold(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STUB_KEY", "schlüssel")
    shown = complaint(capsys, "http://127.0.0.1:1/v1", "--api-key-env", "STUB_KEY")
    assert shown.startswith("CF008 error --api-key-env: the key holds characters that no HTTP header can")
    assert "schlüssel" not in shown


def test_an_endpoint_that_answers_without_end(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("constructs_pd.conformance.endpoint.LONGEST_BYTES", 100)
    with served(answering(200, "application/json", b" " * 200)) as url:
        assert "more than 100 bytes" in complaint(capsys, url)


def test_a_model_that_is_not_served(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert main(["conformance", "--base-url", url, "--model", "stud"]) == 2
    shown = capsys.readouterr().err
    assert shown.startswith("CF006")
    assert "it serves 'stub', not 'stud'" in shown
    assert "did you mean 'stub'?" in shown


@pytest.mark.parametrize("option", ["--base-url", "--metrics-url", "--reference-url"])
@pytest.mark.parametrize(
    ("carried", "said"),
    [
        (f"?token={KEY}", "a query"),
        ("?", "a query"),
        (f"#{KEY}", "a fragment"),
        ("#", "a fragment"),
        (" ", "white space"),
        ("\n", "white space"),
    ],
)
def test_an_address_that_carries_more(option: str, carried: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = complaint(capsys, "http://127.0.0.1:1/v1", f"{option}=http://127.0.0.2:1/v1{carried}")
    assert shown.startswith(f"CF007 error http://127.0.0.2: it carries {said}")
    assert KEY not in shown


def test_no_part_of_an_address_that_is_none_is_shown_which_may_be_a_key(capsys: pytest.CaptureFixture[str]) -> None:
    for url in (f"ftp://host/v1?token={KEY}", f"ftp://a:b?{KEY}@host/v1#{KEY}"):
        shown = complaint(capsys, url)
        assert shown.startswith("CF007 error base URL:")
        assert KEY not in shown


@pytest.mark.parametrize("url", [*NO_HTTP, *NO_HOSTS])
def test_an_address_that_is_none(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert complaint(capsys, url).startswith("CF007")


def test_a_secret_in_the_address_is_refused_and_not_shown(capsys: pytest.CaptureFixture[str]) -> None:
    shown = complaint(capsys, f"http://user:{KEY}@127.0.0.1:1/v1")
    assert shown.startswith("CF007")
    assert KEY not in shown


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (("--api-key-env", "NOT_SET_ANYWHERE"), "CF008 error --api-key-env"),
        (("--only", "CF999"), "no check matches 'CF999'"),
        (("--ray", "latest"), "'latest' is no version"),
        (("--answers", "/no/such/file"), "CF008 error --answers: /no/such/file cannot be read"),
        (("--store-answers", "/no/such/folder/file"), "cannot be written"),
        (("--metrics-url", "foo"), "CF007 error --metrics-url: 'foo' is no http or https address"),
        (("--metrics-url", "http://x:y/metrics"), "CF007 error --metrics-url"),
        (("--reference-url", "http://a..b/v1"), "CF007"),
    ],
)
def test_an_option_that_cannot_be_understood(
    options: tuple[str, ...], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with running(Stub()) as url:
        assert expected in complaint(capsys, url, *options)


@pytest.mark.parametrize("text", ["", "[]", "{}", "null", '{"format": 1, "prompts": {}, "answers": {}}'])
def test_a_file_of_answers_that_is_another(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "answers.json"
    path.write_text(text, encoding="utf-8")
    with running(Stub()) as url:
        assert complaint(capsys, url, "--answers", str(path)).startswith("CF008 error --answers")


def test_a_tokenizer_that_is_none(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    class Tokenizer:
        @staticmethod
        def from_file(path: str) -> Tokenizer:
            # As tokenizers 0.23 does, of the plain type.
            raise Exception("No such file or directory (os error 2)")

    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Tokenizer))
    shown = complaint(capsys, "http://127.0.0.1:1/v1", "--tokenizer", "/nope.json")
    assert shown.startswith("CF008 error --tokenizer: /nope.json cannot be read: No such file")


@pytest.mark.parametrize(
    "logprobs",
    [
        {"token_logprobs": [None]},
        {"token_logprobs": None},
        {"token_logprobs": [-(10**400)]},
        {"token_logprobs": [float("nan")]},
        {"token_logprobs": [-0.1, -0.1]},
        {"token_logprobs": [-0.1], "top_logprobs": [5]},
        {"token_logprobs": [-0.1], "top_logprobs": 5},
        {"token_logprobs": [-0.1], "top_logprobs": [{"a": "b"}]},
        {"token_logprobs": [-0.1], "tokens": [1]},
        {"token_logprobs": [-0.1], "tokens": {"a": 1}},
    ],
)
def test_odd_answers_are_not_stored(
    logprobs: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "answers.json"
    choice = {"text": "a", "logprobs": {"tokens": ["a"], "top_logprobs": [None], **logprobs}}
    posted = json.dumps({"choices": [choice]}).encode()
    with served(answering(200, "application/json", b'{"data": [{"id": "stub"}]}', posted)) as url:
        shown = complaint(capsys, url, "--store-answers", str(path))
    assert shown.startswith("CF008 error --store-answers: no answer to store: expected ")
    assert not path.exists()


def test_half_a_character_is_stored_and_read(tmp_path: Path) -> None:
    path = tmp_path / "answers.json"
    logprobs = {"tokens": ["\ud83d"], "token_logprobs": [-0.1], "top_logprobs": None}
    posted = json.dumps({"choices": [{"text": "\ud83d", "logprobs": logprobs}]}).encode()
    with served(answering(200, "application/json", b'{"data": [{"id": "stub"}]}', posted)) as url:
        store_answers(Settings(url, MODEL), path)
        checks = [check for check in CHECKS if check.id == "CF901"]
        (result,) = run(Settings(url, MODEL, answers=path), checks).results
    assert (result.status, result.actual.split(" as ")[0]) == (Status.PASSED, "4 prompts, 4 tokens")


def test_a_reference_that_wants_a_key_is_not_told_to_be_given_one(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url, running(Stub(api_key=KEY)) as reference:
        shown = complaint(capsys, url, "--reference-url", reference)
    assert shown.startswith(f"CF005 error {reference}")
    assert "it is asked without a key" in shown


def test_a_reference_that_is_down_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        shown = complaint(capsys, url, "--reference-url", "http://127.0.0.1:1/v1")
    assert shown.startswith("CF001 error http://127.0.0.1:1/v1")


def test_what_the_deadline_leaves_no_time_for_fails_as_not_run() -> None:
    with running(Stub()) as url:
        report = run(Settings(url, MODEL, deadline_seconds=0.1))
    last = report.results[-1]
    assert (last.status, last.actual) == (Status.FAILED, "not run: the 0.1 s of the whole run are used up")
    assert report.seconds < 5


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b'"text"',
        b"{}",
        b"\xff\xfe\x00",
        b'{"choices": null}',
        b'{"choices": [1]}',
        b'{"choices": [{}], "usage": {"prompt_tokens": "1"}}',
        b'{"choices": [{"message": "text", "delta": 1, "text": 1, "logprobs": 1, "index": {}}]}',
        b'{"choices": [{"message": {"content": 1, "tool_calls": [1]}, "logprobs": {"content": [1]}}], "error": 1}',
        b"[" * 100_000,
        b"data: {}\n\ndata: 1\n\ndata: [DONE]\n\n",
        b'data: {"choices": [{"delta": {"tool_calls": 1}, "index": 0, "finish_reason": "stop"}]}\n\n',
        b'data: {"choices": {"a": 1}, "usage": 1}\n\n',
        b"<html></html>",
    ],
)
def test_an_answer_of_whatever_shape_is_a_failure_and_no_crash(body: bytes) -> None:
    listed = b'{"object": "list", "data": [{"id": "stub"}]}'
    with served(answering(200, "application/json", listed, body)) as url:
        report = run(Settings(url, MODEL, timeout_seconds=5))
    assert report.count(Status.FAILED) > 20
    assert not report.is_conforming
