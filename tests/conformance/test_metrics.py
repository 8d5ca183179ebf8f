"""CF903: decode counts the bytes that it received."""

from __future__ import annotations

import socket
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from constructs_pd.cli.main import main
from constructs_pd.conformance import metrics
from constructs_pd.conformance.canary import PROMPTS
from constructs_pd.conformance.outcome import CheckFailedError
from constructs_pd.conformance.session import Session
from support.certificates import self_signed
from support.metrics_page import RAY, VLLM, pages
from support.openai_stub import MODEL, Lack, Stub, running


def transfer(url: str, *options: str) -> int:
    return main(["conformance", "--base-url", url, "--model", MODEL, "--only", "CF903", *options])


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "WAIT_SECONDS", 0.1)
    monkeypatch.setattr(metrics, "PAUSE_SECONDS", 0.05)


@pytest.mark.parametrize("name", [RAY, VLLM])
def test_bytes_that_grow_are_a_hand_over(name: str) -> None:
    stub = Stub()
    with running(stub) as url, pages(stub, name, 4096) as page:
        assert transfer(url, "--metrics-url", page) == 0


@pytest.mark.parametrize(
    ("name", "grows", "status", "said"),
    [
        (RAY, 0, 200, "actual:   0 after 4 prompts"),
        ("ray_vllm_nixl_num_descriptors_sum ", 1, 200, "no nixl_bytes_transferred_sum: it is no decode engine's page"),
        ("go_goroutines ", 1, 200, "expected: a page of an engine's metrics at http://127.0.0.1"),
        (RAY, -1, 200, "after 4 prompts"),
        (RAY, 1, 503, "actual:   503"),
    ],
)
def test_what_is_no_hand_over_fails(
    name: str, grows: float, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    stub = Stub()
    with running(stub) as url, pages(stub, name, grows, status) as page:
        assert transfer(url, "--metrics-url", page) == 1
    assert said in capsys.readouterr().out


@pytest.mark.parametrize("page", ["http://127.0.0.1:1/metrics", "http://nobody.invalid/metrics"])
def test_a_page_that_cannot_be_read_fails(page: str, capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert transfer(url, "--metrics-url", page) == 1
    assert "CF903 FAILED" in capsys.readouterr().out


def test_without_the_option_it_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with running(Stub()) as url:
        assert transfer(url) == 0
    assert "--metrics-url was not given" in capsys.readouterr().out


def test_all_addresses_of_a_name_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    found = [(0, 0, 0, "", (host, 8080)) for host in ("10.0.0.2", "10.0.0.1", "10.0.0.2")]
    found.append((0, 0, 0, "", ("fd00::1", 8080, 0, 0)))  # type: ignore[arg-type]
    monkeypatch.setattr("socket.getaddrinfo", lambda *_, **__: found)
    assert metrics._addresses("http://decode:8080/metrics") == [
        ["http://10.0.0.1:8080/metrics", "http://10.0.0.2:8080/metrics"],
        ["http://[fd00::1]:8080/metrics"],
    ]


V4, OTHER_V4, V6 = "http://10.0.0.1:8080/metrics", "http://10.0.0.2:8080/metrics", "http://[fd00::1]:8080/metrics"
NOBODY = cast(Session, None)


@pytest.mark.parametrize(
    ("listening", "read"),
    [
        ({V4, OTHER_V4, V6}, {V4, OTHER_V4}),  # a pod that has both counts once
        ({OTHER_V4, V6}, {OTHER_V4}),
        ({V6}, {V6}),
    ],
)
def test_an_address_where_nobody_listens_is_left_out(
    listening: set[str], read: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    page_of = pages_at(monkeypatch, listening)
    assert metrics._pages(NOBODY, "http://decode:8080/metrics") == {address: page_of[address] for address in read}


def test_addresses_where_nobody_listens_at_all_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    pages_at(monkeypatch, set())
    with pytest.raises(CheckFailedError, match="refused"):
        metrics._pages(NOBODY, "http://decode:8080/metrics")


def test_an_address_that_answers_otherwise_is_not_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    page_of = pages_at(monkeypatch, {V4, OTHER_V4})
    del page_of[OTHER_V4]
    with pytest.raises(CheckFailedError, match="500"):
        metrics._pages(NOBODY, "http://decode:8080/metrics")


def pages_at(monkeypatch: pytest.MonkeyPatch, listening: set[str]) -> dict[str, str]:
    """Let a name have three addresses, and return the pages at those where somebody listens."""
    page_of = {address: f"page of {address}" for address in listening}

    def page(_: Session, __: str, address: str) -> str:
        if address not in listening:
            raise metrics._NoConnectionError("a page", "refused")
        if address not in page_of:
            raise CheckFailedError("a page", "500")
        return page_of[address]

    monkeypatch.setattr(metrics, "_addresses", lambda _: [[V4, OTHER_V4], [V6]])
    monkeypatch.setattr(metrics, "_page", page)
    return page_of


def test_a_refused_connection_is_told_from_another_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """A name may have an address more than a server listens on, such as ::1 or that of a pod that is gone."""
    real = socket.getaddrinfo

    def with_another(host: str, *rest: Any, **options: Any) -> list[Any]:
        found = real(host, *rest, **options)
        return found if host != "localhost" else [*found, (*found[0][:4], ("127.0.0.9", *found[0][4][1:]))]

    stub = Stub()
    with running(stub) as url, pages(stub, RAY, 4096) as page:
        monkeypatch.setattr(socket, "getaddrinfo", with_another)
        assert transfer(url, "--metrics-url", page.replace("127.0.0.1", "localhost")) == 0


@pytest.mark.parametrize(
    ("before", "now", "grown"),
    [
        ({}, {}, None),
        ({V4: 3}, {}, None),
        ({}, {V4: 5}, 5),
        ({V4: 3}, {V4: 5}, 2),
        ({V4: 3, V6: 9}, {V4: 5}, 2),  # one is gone
        ({V4: 3}, {V4: 5, V6: 9}, 11),  # one has come
    ],
)
def test_what_engines_received_since_is_added_up(
    before: dict[str, float], now: dict[str, float], grown: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(metrics, "transferred_bytes", lambda _: now)
    session = cast(Session, SimpleNamespace(endpoint=SimpleNamespace(remaining_seconds=0)))
    assert metrics.grown_bytes(session, before) == grown


def test_it_waits_until_a_page_that_is_written_now_and_then_has_grown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    counts = iter([7, 7, 7, 7, 16])
    monkeypatch.setattr(metrics, "WAIT_SECONDS", 20)
    monkeypatch.setattr(metrics, "_page", lambda *_: f"{RAY}{next(counts)}\n")
    with running(Stub()) as url:
        assert transfer(url, "--metrics-url", "http://127.0.0.1:1/metrics", "--json") == 0
    assert "9 bytes for 4 prompts" in capsys.readouterr().out


def test_no_proxy_is_asked_for_a_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is asked for by an address, which NO_PROXY does not name."""
    for name, value in {"HTTP_PROXY": "http://127.0.0.1:9", "NO_PROXY": "localhost"}.items():
        monkeypatch.setenv(name, value)
        monkeypatch.setenv(name.lower(), value)
    stub = Stub()
    with running(stub) as url, pages(stub, RAY, 4096) as page:
        by_name = [address.replace("127.0.0.1", "localhost") for address in (url, page)]
        assert transfer(by_name[0], "--metrics-url", by_name[1]) == 0


def test_a_page_behind_a_certificate_is_asked_for_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: set[str | None] = set()
    certificate, path = self_signed(tmp_path)
    certificate.sni_callback = lambda _, name, __: seen.add(name)
    monkeypatch.setenv("SSL_CERT_FILE", str(path))
    stub = Stub()
    with running(stub) as url, pages(stub, RAY, 4096, certificate=certificate) as page:
        assert transfer(url, "--metrics-url", page.replace("127.0.0.1", "localhost")) == 0
    assert seen == {"localhost"}


def test_the_page_of_a_name_is_asked_for_by_its_name() -> None:
    assert metrics._addresses("https://127.0.0.1/metrics") == [["https://127.0.0.1:443/metrics"]]
    seen: list[str] = []
    stub = Stub()
    with running(stub) as url, pages(stub, RAY, 4096, hosts=seen) as page:
        assert transfer(url, "--metrics-url", page.replace("127.0.0.1", "localhost")) == 0
    assert {host.partition(":")[0] for host in seen} == {"localhost"}


def test_prompts_that_earlier_checks_asked_are_not_repeated() -> None:
    asked: set[str] = set()
    stub = Stub()
    stub_key = stub._key

    def key(body: dict[str, object], index: int) -> str:
        asked.add(str(body.get("prompt")))
        return stub_key(body, index)

    stub._key = key  # type: ignore[method-assign]
    with running(stub) as url, pages(stub, RAY, 4096) as page:
        assert transfer(url, "--metrics-url", page) == 0
    assert not asked & set(PROMPTS.values())


def test_a_context_without_room_for_a_long_prompt_tells_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    stub = Stub(lacks=frozenset({Lack.LONG_CONTEXT}))
    with running(stub) as url, pages(stub, RAY, 4096) as page:
        assert transfer(url, "--metrics-url", page) == 0
    assert "the model's context is too short for every prompt" in capsys.readouterr().out
