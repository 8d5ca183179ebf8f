"""CF903: decode counts the bytes that it received."""

from __future__ import annotations

import pytest

from constructs_pd.cli.main import main
from constructs_pd.conformance import metrics
from constructs_pd.conformance.canary import PROMPTS
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
        "http://10.0.0.1:8080/metrics",
        "http://10.0.0.2:8080/metrics",
        "http://[fd00::1]:8080/metrics",
    ]


def test_the_page_of_a_name_is_asked_for_by_its_name() -> None:
    assert metrics._addresses("https://127.0.0.1/metrics") == ["https://127.0.0.1:443/metrics"]
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
