"""The real proxy before the real Ray Serve, whose engine is the mock: clients, attacks, many streams, long silences."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import openai
import pytest
from pytest_examples import find_examples

from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.run import run
from constructs_pd.conformance.settings import Settings
from constructs_pd.rehearsal import checks, gateway_checks, look
from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.context import context_tokens
from constructs_pd.rehearsal.gateway import digest, status
from constructs_pd.rehearsal.gateway_checks import through_gateway
from constructs_pd.rehearsal.look import looked_at
from constructs_pd.rehearsal.questions import questions
from constructs_pd.rehearsal.steps import Steps
from constructs_pd.rehearsal.supervised import Supervised
from support.gateway import (
    GATEWAY,
    KEY,
    OTHER_KEY,
    PATH,
    UNKNOWN_KEY,
    RunningGateway,
    bearer,
    line_of,
    received,
    running_gateway,
    wait_for,
)
from support.processes import ROOT
from support.rehearsal_stage import MOCK, Stage, stage_of
from support.smuggling import HEAD, NORMALIZED, OPEN_HEAD, REFUSED
from support.specs import plan_with

MODEL = "qwen3.5-9b"
KEYS = line_of("search", KEY) + line_of("mail", OTHER_KEY)
STREAMS = 100
BODY_BYTES = 1 << 20
ANSWER_TOKENS = 12


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    with stage_of(plan_with({"endpoint.gateway": GATEWAY})) as running:
        running.deploy()
        yield running


@pytest.fixture(scope="module")
def gateway(stage: Stage, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningGateway]:
    with running_gateway(
        tmp_path_factory.mktemp("gateway"),
        f"127.0.0.1:{stage.port}",
        KEYS,
        requests_per_minute=100_000,
        concurrent_requests=2 * STREAMS,
        max_body_bytes=BODY_BYTES,
    ) as running:
        wait_for(lambda: status_of(running, KEY) == 200, 30)
        yield running


def asking(content: str = "hello", **more: Any) -> dict[str, Any]:
    messages = [{"role": "user", "content": content}]
    return {"model": MODEL, "messages": messages, "max_tokens": ANSWER_TOKENS, "temperature": 0, **more}


def status_of(gateway: RunningGateway, key: str | None) -> int:
    return gateway.post(key, **asking()).status_code


def streamed(gateway: RunningGateway, key: str = KEY, **more: Any) -> tuple[str, bool]:
    """Return a stream's text, and whether its end was marked."""
    client = openai.OpenAI(base_url=f"{gateway.url}/v1", api_key=key, max_retries=0)
    body = asking(**more)
    pause = {"mock_pause_seconds": body.pop("mock_pause_seconds", 0)}
    with client.chat.completions.create(**body, stream=True, extra_body=pause) as stream:
        events = [event for event in stream if event.choices]
    text = "".join(event.choices[0].delta.content or "" for event in events)
    return text, events[-1].choices[0].finish_reason == "length"


@pytest.fixture(scope="module")
def said(gateway: RunningGateway) -> str:
    """What is answered to everybody who asks the same."""
    answer: str = gateway.post(KEY, **asking()).json()["choices"][0]["message"]["content"]
    assert len(answer) == ANSWER_TOKENS
    return answer


def readme_client(gateway: RunningGateway, key: str | None) -> subprocess.CompletedProcess[str]:
    """Run the client of the README, with its variables and no others."""
    (snippet,) = (each for each in find_examples(str(ROOT / "README.md")) if each.prefix_settings())
    environment = {"PATH": os.environ["PATH"], "OPENAI_BASE_URL": f"{gateway.url}/v1"}
    if key is not None:
        environment["OPENAI_API_KEY"] = key
    return subprocess.run(
        [sys.executable, "-c", snippet.source], env=environment, capture_output=True, text=True, timeout=120
    )


def test_the_readmes_client_chats_and_streams(gateway: RunningGateway) -> None:
    done = readme_client(gateway, KEY)
    assert done.returncode == 0, done.stderr
    whole, stream = done.stdout.splitlines()
    assert whole == stream
    assert len(whole) == 64


def test_the_readmes_client_with_a_wrong_key_is_told_so(gateway: RunningGateway) -> None:
    done = readme_client(gateway, UNKNOWN_KEY)
    assert done.returncode != 0
    assert "openai.AuthenticationError: Error code: 401" in done.stderr
    assert "The API key is missing or not in force" in done.stderr


def test_without_a_key_nobody_is_answered(gateway: RunningGateway) -> None:
    # OpenAI's client does not even ask.
    assert "OPENAI_API_KEY" in readme_client(gateway, None).stderr
    answer = gateway.post(None, **asking())
    assert (answer.status_code, answer.json()["error"]["code"]) == (401, "invalid_api_key")


def test_a_rotated_key_is_taken_and_the_old_one_refused(stage: Stage, tmp_path: Path) -> None:
    with running_gateway(tmp_path, f"127.0.0.1:{stage.port}") as gateway:
        wait_for(lambda: status_of(gateway, KEY) == 200)
        gateway.write_keys(line_of("search", KEY) + line_of("search", OTHER_KEY))
        wait_for(lambda: status_of(gateway, OTHER_KEY) == 200)
        assert readme_client(gateway, KEY).returncode == 0
        gateway.write_keys(line_of("search", OTHER_KEY))
        wait_for(lambda: status_of(gateway, KEY) == 401)
        assert readme_client(gateway, OTHER_KEY).returncode == 0
        assert "AuthenticationError" in readme_client(gateway, KEY).stderr


def test_a_stream_outlives_the_removal_of_its_key(stage: Stage, tmp_path: Path, said: str) -> None:
    with (
        running_gateway(tmp_path, f"127.0.0.1:{stage.port}", KEYS) as gateway,
        ThreadPoolExecutor(1) as background,
    ):
        wait_for(lambda: status_of(gateway, KEY) == 200)
        # 5 seconds: longer than two looks at the Secret.
        stream = background.submit(streamed, gateway, mock_pause_seconds=0.4)
        time.sleep(0.5)
        gateway.write_keys(line_of("mail", OTHER_KEY))
        wait_for(lambda: status_of(gateway, KEY) == 401)
        assert not stream.done()
        assert stream.result() == (said, True)
        assert status_of(gateway, OTHER_KEY) == 200


def test_many_streams_at_once(gateway: RunningGateway, said: str) -> None:
    with ThreadPoolExecutor(STREAMS) as threads:
        # Long enough that all are open together.
        streams = list(threads.map(lambda _: streamed(gateway, mock_pause_seconds=1), range(STREAMS)))
    assert streams == [(said, True)] * STREAMS
    lines = [line for line in gateway.log() if line["total_ms"] > 10_000]
    assert len(lines) == STREAMS
    assert {(line["status"], line["key"]) for line in lines} == {(200, "search")}


def test_a_client_that_reads_slowly_holds_up_nobody(gateway: RunningGateway, said: str) -> None:
    body = httpx.Request("POST", gateway.url, json=asking(stream=True, max_tokens=1000, n=2)).content
    head = f"{HEAD}Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode()
    with socket.create_connection(("127.0.0.1", gateway.port), timeout=60) as slow:
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(head + body)
        slow.recv(1024)
        begun = time.monotonic()
        assert streamed(gateway) == (said, True)
        assert time.monotonic() - begun < 5
        rest = received(slow)
    assert rest.count(b"data: {") > 1990  # the first of them are read already
    assert b"data: [DONE]" in rest


def test_an_oversized_body_is_refused_before_it_is_read(gateway: RunningGateway) -> None:
    head = f"{HEAD}Content-Type: application/json\r\nContent-Length: {BODY_BYTES + 1}\r\n\r\n"
    assert gateway.raw(head.encode()).startswith(b"HTTP/1.1 413 ")
    chunked = httpx.post(
        f"{gateway.url}{PATH}", content=iter([b"a" * BODY_BYTES] * 2), headers=bearer(KEY), trust_env=False
    )
    assert chunked.status_code == 411
    # What is just small enough reaches Ray, which says what it thinks of a prompt of that length.
    assert gateway.post(KEY, **asking("a" * (BODY_BYTES - 1000))).status_code == 400


@pytest.mark.parametrize(("request_text", "status"), REFUSED.values(), ids=REFUSED)
def test_what_could_smuggle_is_refused(gateway: RunningGateway, request_text: str, status: int) -> None:
    before = len(gateway.log())
    answer = gateway.raw(request_text.encode())
    assert set(re.findall(rb"HTTP/1.1 (\d+) ", answer)) == {str(status).encode()}
    wait_for(lambda: len(gateway.log()) > before)
    # Nothing of it had a connection to Serve.
    assert {line["connect_ms"] for line in gateway.log()[before:]} == {-1}


@pytest.mark.parametrize("request_text", NORMALIZED.values(), ids=NORMALIZED)
def test_what_has_one_meaning_is_one_request_to_ray(gateway: RunningGateway, request_text: str) -> None:
    plain = gateway.raw(f"{HEAD}Content-Length: 2\r\n\r\n{{}}".encode())
    answer = gateway.raw(request_text.encode())
    assert answer.split()[1] == plain.split()[1]
    assert answer.count(b"HTTP/1.1 ") == 1


def test_requests_in_a_row_are_answered_in_a_row(gateway: RunningGateway) -> None:
    body = httpx.Request("POST", gateway.url, json=asking()).content
    kind = f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    one, last = (f"{head}{kind}".encode() + body for head in (OPEN_HEAD, HEAD))
    answer = gateway.raw(one + one + last)
    assert answer.count(b"HTTP/1.1 200 ") == answer.count(b"HTTP/1.1 ") == 3


@pytest.mark.parametrize(
    "path", ["/-/routes", "/-/healthz/", "/%2d/routes", "/%2D%2Froutes", "//-/routes", "/v1/../-/routes"]
)
def test_serves_own_paths_are_shut(gateway: RunningGateway, path: str) -> None:
    head = f"GET {path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\nAuthorization: Bearer {KEY}\r\n\r\n"
    assert gateway.raw(head.encode()).split()[1] == b"404"


def test_the_suite_passes_through_it(gateway: RunningGateway, stage: Stage) -> None:
    settings = Settings(
        base_url=f"{gateway.url}/v1",
        model=MODEL,
        api_key=KEY,
        versions={"ray": stage.plan.versions.ray, "vllm": stage.plan.versions.vllm},
        asks_proxies=False,
    )
    report = run(settings, CHECKS, lambda result: None)
    results = {result.check: result.status for result in report.results}
    assert "failed" not in results.values(), [result for result in report.results if result.status == "failed"]
    assert results["CF715"] == "passed"
    assert sum(status == "passed" for status in results.values()) > 50


def test_a_rehearsal_asks_through_it(stage: Stage) -> None:
    gateway = stage.plan.endpoint.gateway
    assert gateway is not None
    with Supervised() as supervised:
        question = questions(MODEL, context_tokens(stage.plan))[-1]
        # The least that a plan may give a key: the checks are about keys, and must not meet a limit.
        least = {"reload_seconds": 1, "requests_per_minute": 1, "concurrent_requests": 1}
        through = through_gateway(gateway.model_copy(update=least), stage.port, question, supervised)
        assert [check.name for check in through.checks if not check.passed] == []
        assert len(through.checks) == 3
        assert status(through.gateway.port, through.key) == 200
        log = (supervised.folder / "gateway.log").read_text()
    assert through.key not in log
    assert digest(through.key) not in log


def test_holding_comes_after_the_checks_that_need_no_comparison(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    held: list[Any] = []
    monkeypatch.setattr(look, "hold", lambda *arguments: held.append(arguments))
    # A fault of the configuration, which stops nothing.
    monkeypatch.setattr(checks, "roles", lambda deployed: Check("the roles are right", False, "they are not"))
    told: list[str] = []
    with Supervised() as supervised:
        options = replace(MOCK, hold=True)
        found = looked_at(stage.plan, stage.document, stage.ray, options, Steps(told.append), supervised)
    assert len(held) == 1
    names = [check.name for check in found.checks]
    assert {gateway_checks.NOBODY, gateway_checks.SAME, gateway_checks.EXCHANGED} <= set(names)
    assert "the endpoint keeps to OpenAI's API" in names
    assert not any("aggregated" in name for name in names)
    assert "FAILED the roles are right: they are not" in told


@pytest.mark.slow
def test_a_stream_that_is_silent_for_more_than_a_minute(gateway: RunningGateway, said: str) -> None:
    begun = time.monotonic()
    assert streamed(gateway, max_tokens=1, mock_pause_seconds=65) == (said[0], True)
    assert time.monotonic() - begun > 65
