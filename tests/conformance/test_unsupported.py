"""What an endpoint or its model may do without is unsupported, with a reason, and never a failure."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.outcome import Status
from constructs_pd.conformance.run import run
from constructs_pd.conformance.settings import Settings
from support.openai_stub import MODEL, Lack, Stub, running

# Nothing was given to compare with.
ALWAYS = {"CF608", "CF715", "CF901", "CF903"}

UNSUPPORTED: dict[Lack, set[str]] = {
    Lack.COMPLETIONS: {"CF202", "CF207", "CF505", "CF604", "CF607", "CF902"},
    Lack.LOGPROBS: {"CF502", "CF503", "CF504", "CF505", "CF902"},
    Lack.SEVERAL_CHOICES: {"CF313", "CF315", "CF501", "CF606"},
    Lack.TOOLS: {"CF801", "CF802", "CF803", "CF804", "CF805", "CF806"},
    Lack.TOKENIZE: {"CF607"},
    Lack.TOKEN_IDS: {"CF604"},
    Lack.TOLD_CONTEXT: {"CF711"},
    Lack.LONG_CONTEXT: {"CF902"},
    Lack.LONG_STREAMS: {"CF311"},
    Lack.LONG_ANSWERS: {"CF401", "CF402", "CF404", "CF504", "CF602", "CF606"},
    Lack.OWN_END: {"CF405"},
    Lack.WIDE_CHARACTERS: {"CF309"},
}


def unsupported(stub: Stub, **options: object) -> dict[str, str]:
    with running(stub) as url:
        report = run(Settings(url, MODEL, timeout_seconds=10, **options))  # type: ignore[arg-type]
    failed = {result.check: result.actual for result in report.results if result.status is Status.FAILED}
    assert failed == {}
    return {result.check: result.actual for result in report.results if result.status is Status.UNSUPPORTED}


@pytest.mark.parametrize("lack", UNSUPPORTED)
def test_what_is_lacking_is_unsupported(lack: Lack) -> None:
    found = unsupported(Stub(lacks=frozenset({lack})))
    assert set(found) == UNSUPPORTED[lack] | ALWAYS, found
    assert all(found.values())


def test_where_greedy_answers_vary_nothing_is_compared_with_them() -> None:
    with running(Stub(lacks=frozenset({Lack.SAME_ANSWERS}))) as url:
        report = run(Settings(url, MODEL, timeout_seconds=10))
    ended = {result.check: result for result in report.results}
    assert {check for check, result in ended.items() if result.status is Status.FAILED} == {"CF506"}
    compared = [f"CF{number}" for number in (306, 309, 310, 315, *range(411, 418), 603)]
    assert {ended[check].status for check in compared} == {Status.UNSUPPORTED}
    assert "greedy answers vary" in ended["CF306"].actual


def test_the_canary_without_log_probabilities_compares_texts() -> None:
    stub = Stub(lacks=frozenset({Lack.COMPLETIONS}))
    with running(Stub(lacks=frozenset({Lack.COMPLETIONS}))) as reference:
        assert "CF901" not in unsupported(stub, reference_url=reference)


def test_a_canary_of_which_no_prompt_fits_says_so() -> None:
    with running(Stub()) as reference:
        found = unsupported(Stub(lacks=frozenset({Lack.LONG_CONTEXT})), reference_url=reference)
    assert found["CF901"].startswith("no token could be compared")


def test_what_a_short_context_has_no_room_for_is_unsupported() -> None:
    found = unsupported(Stub(lacks=frozenset({Lack.ROOM})))
    assert {"CF201", "CF306", "CF401", "CF417", "CF601", "CF902"} <= set(found)
    assert not {"CF101", "CF203", "CF312", "CF403", "CF706", "CF711"} & set(found)
    assert found["CF201"].startswith('the context of 64 tokens may be too short: 400 {"error"')


@pytest.mark.parametrize("tokens", [-5, 0, 10**13])
def test_a_context_that_is_told_and_cannot_be_is_not_exceeded(tokens: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Stub, "context_tokens", tokens)
    monkeypatch.setattr(Stub, "refuse", lambda *_: None)
    with running(Stub()) as url:
        (result,) = run(Settings(url, MODEL), [check for check in CHECKS if check.id == "CF711"]).results
    assert result.status is Status.UNSUPPORTED


def test_a_context_that_is_stated_needs_no_list() -> None:
    assert "CF711" not in unsupported(Stub(lacks=frozenset({Lack.TOLD_CONTEXT})), context_tokens=6000)


def test_a_tokenizer_without_its_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    found = unsupported(Stub(), tokenizer=Path("tokenizer.json"))
    assert found["CF608"] == "the tokenizers library is not installed: pip install tokenizers"


def test_every_lack_is_tried() -> None:
    assert set(UNSUPPORTED) | {Lack.SAME_ANSWERS, Lack.ROOM} == set(Lack)
    assert set.union(*UNSUPPORTED.values()) <= {check.id for check in CHECKS}
