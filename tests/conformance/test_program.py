"""The suite as a program of its own, as a pod runs it."""

from __future__ import annotations

import time

import pytest

from constructs_pd.conformance import __main__ as program
from constructs_pd.conformance.checks import CHECKS
from support.openai_stub import MODEL, Fault, Stub, running


@pytest.fixture(autouse=True)
def _a_few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "CHECKS", tuple(check for check in CHECKS if check.id.startswith("CF10")))


def checked(url: str, wait_seconds: float = 0, model: str = MODEL) -> int:
    stated = {"base-url": url, "model": model, "ray": "2.58.0", "vllm": "0.26.0", "metrics-url": "http://127.0.0.1:1"}
    limits = [f"--wait={wait_seconds}", "--deadline=30"]
    return program.main([*(f"--{name}={value}" for name, value in stated.items()), *limits], pause_seconds=0.05)


def test_it_says_each_result_and_how_many(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert checked(url) == 0
    *results, summary = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in results] == [[f"CF10{number}", "passed"] for number in range(1, 6)]
    assert "5 passed, 0 failed" in summary


def test_a_check_that_fails_is_its_status() -> None:
    with running(Stub(frozenset({Fault.NOT_LISTED_AS_MODEL}))) as url:
        assert checked(url) == program.CHECK_FAILED


def test_it_waits_while_the_application_is_not_there_yet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = Stub()
    ready = stub.get
    monkeypatch.setattr(stub, "get", lambda path: ready(path) if stub.requests > 3 else {})
    with running(stub) as url:
        assert checked(url, wait_seconds=30) == 0
    assert capsys.readouterr().out.count("waiting: GET /models answers") == 3


def test_it_gives_up_when_the_time_is_over(capsys: pytest.CaptureFixture[str]) -> None:
    begin = time.monotonic()
    assert checked("http://127.0.0.1:1/v1", wait_seconds=0.2) == program.NOT_CHECKED
    assert time.monotonic() - begin < 10
    *waiting, last, _ = capsys.readouterr().out.splitlines()
    assert waiting
    assert last.startswith("CF001 error http://127.0.0.1:1/v1: no connection")


def test_another_model_is_no_reason_to_wait() -> None:
    with running(Stub()) as url:
        assert checked(url, wait_seconds=60, model="other") == program.NOT_CHECKED
