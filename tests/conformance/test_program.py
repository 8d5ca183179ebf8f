"""The suite as a program of its own, as a pod runs it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from constructs_pd.conformance import __main__ as program
from constructs_pd.conformance.checks import CHECKS
from support.kubernetes_stub import NAME, NAMESPACE, KubernetesStub, kubernetes
from support.openai_stub import MODEL, Fault, Stub, running


@pytest.fixture(autouse=True)
def _a_few_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(program, "CHECKS", tuple(check for check in CHECKS if check.id.startswith("CF10")))


@pytest.fixture(name="account")
def _account(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture(name="cluster", autouse=True)
def _cluster(account: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[KubernetesStub]:
    stub = KubernetesStub()
    with kubernetes(stub, account) as environment:
        for key, value in environment.items():
            monkeypatch.setenv(key, value)
        yield stub


def checked(account: Path, url: str, wait_seconds: float = 0, model: str = MODEL, deadline_seconds: float = 30) -> int:
    stated = {"base-url": url, "model": model, "ray": "2.58.0", "vllm": "0.26.0", "metrics-url": "http://127.0.0.1:1"}
    where = {"account": str(account), "namespace": NAMESPACE, "rayservice": NAME}
    limits = [f"--wait={wait_seconds}", f"--deadline={deadline_seconds}"]
    return program.main(
        [*(f"--{name}={value}" for name, value in {**stated, **where}.items()), *limits], pause_seconds=0.05
    )


def test_it_says_each_result_and_how_many(account: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert checked(account, url) == 0
    *results, summary = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in results] == [[f"CF10{number}", "passed"] for number in range(1, 6)]
    assert "5 passed, 0 failed" in summary


def test_a_check_that_fails_is_its_status(account: Path) -> None:
    with running(Stub(frozenset({Fault.NOT_LISTED_AS_MODEL}))) as url:
        assert checked(account, url) == program.CHECK_FAILED


def test_the_deadline_ends_a_slow_run(account: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub(delay_seconds=0.5)) as url:
        assert checked(account, url, deadline_seconds=0.8) == program.CHECK_FAILED
    assert "not run: the 0.8 s of the whole run are used up" in capsys.readouterr().out


def test_it_waits_while_the_application_is_not_there_yet(
    account: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = Stub()
    ready = stub.get
    monkeypatch.setattr(stub, "get", lambda path: ready(path) if stub.requests > 3 else {})
    with running(stub) as url:
        assert checked(account, url, wait_seconds=30) == 0
    assert capsys.readouterr().out.count("waiting: GET /models answers") == 3


def test_it_gives_up_when_the_time_is_over(
    account: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    # A clock that only pauses move, however long an attempt takes.
    pauses: list[float] = []
    monkeypatch.setattr(program, "time", SimpleNamespace(monotonic=lambda: sum(pauses), sleep=pauses.append))
    assert checked(account, "http://127.0.0.1:1/v1", wait_seconds=0.2) == program.NOT_CHECKED
    *waiting, last, _ = capsys.readouterr().out.splitlines()
    assert len(waiting) == len(pauses) - 1 == 3  # one pause is between two looks at the RayService
    assert last.startswith("CF001 error http://127.0.0.1:1/v1: no connection")


def test_another_model_is_no_reason_to_wait(account: Path) -> None:
    with running(Stub()) as url:
        assert checked(account, url, wait_seconds=60, model="other") == program.NOT_CHECKED


def test_what_was_not_applied_is_not_checked(
    account: Path, cluster: KubernetesStub, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.service["metadata"]["generation"] += 1
    stub = Stub()
    with running(stub) as url:
        assert checked(account, url) == program.NOT_CHECKED
    assert stub.requests == 0
    assert capsys.readouterr().out == ("not checked: the operator has seen generation 3 of the RayService, not yet 4\n")


def test_it_waits_for_the_application_that_was_applied(
    account: Path, cluster: KubernetesStub, capsys: pytest.CaptureFixture[str]
) -> None:
    cluster.service["status"]["observedGeneration"] = 2
    cluster.before = lambda look: cluster.service["status"].update(observedGeneration=3) if look > 2 else None
    with running(Stub()) as url:
        assert checked(account, url, wait_seconds=30) == 0
    assert capsys.readouterr().out.count("waiting: the operator has seen generation 2") == 2


def test_a_status_of_before_the_change_is_not_enough(account: Path, cluster: KubernetesStub) -> None:
    """KubeRay read the application's status before it sent the configuration whose generation it reports."""
    applications = cluster.service["status"]["activeServiceStatus"]["applicationStatuses"]
    statuses = iter(["RUNNING", "DEPLOYING", "RUNNING", "RUNNING"])
    cluster.before = lambda _: applications.update(llm={"status": next(statuses)})
    with running(Stub()) as url:
        assert checked(account, url, wait_seconds=30) == 0
    assert cluster.looks == 4
