"""The suite passes over a correct server, and each planted fault is caught by the check that is meant for it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from constructs_pd.conformance import metrics
from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.outcome import Status
from constructs_pd.conformance.run import Report, run, store_answers
from constructs_pd.conformance.settings import Settings
from support.metrics_page import RAY, pages
from support.openai_model import tokens_of
from support.openai_stub import MODEL, Fault, Quirk, Stub, running

KEY = "a-key-that-nobody-may-see"

CAUGHT_BY: dict[Fault, set[str]] = {
    Fault.NOT_LISTED_AS_MODEL: {"CF101"},
    Fault.NO_CREATED: {"CF102"},
    Fault.UNKNOWN_MODEL_DESCRIBED: {"CF104"},
    Fault.MODEL_NOT_DESCRIBED: {"CF103"},
    # A firewall that knows the client by its User-Agent.
    Fault.CLIENT_BLOCKED: {"CF105", "CF203", "CF312"},
    Fault.CHAT_ANSWER_FOR_COMPLETION: {"CF202"},
    Fault.SECOND_TURN_REFUSED: {"CF204"},
    Fault.SYSTEM_MESSAGE_REFUSED: {"CF205"},
    Fault.NO_ROLE_IN_ANSWER: {"CF201", "CF203"},
    Fault.PARTS_REFUSED: {"CF206"},
    Fault.SHORT_PROMPT_CRASHES: {"CF207"},
    Fault.PLAIN_TEXT_STREAM: {"CF301"},
    Fault.NO_DONE: {"CF302"},
    Fault.TWO_DONE: {"CF302"},
    Fault.NO_ROLE: {"CF303"},
    Fault.OTHER_MODEL_IN_CHUNKS: {"CF304"},
    Fault.CHUNK_AFTER_FINISH: {"CF305"},
    Fault.CHUNK_LOST: {"CF306", "CF315"},
    Fault.NO_USAGE_CHUNK: {"CF307"},
    Fault.USAGE_UNASKED: {"CF308"},
    Fault.BROKEN_CHARACTERS: {"CF309"},
    Fault.REPLACED_CHARACTERS: {"CF309"},
    Fault.MIXED_STREAMS: {"CF310"},
    Fault.STUCK_AFTER_CANCEL: {"CF311"},
    Fault.ONE_CHOICE_STREAMED: {"CF313", "CF315"},
    Fault.CHOICES_SWAPPED_IN_STREAM: {"CF315"},
    Fault.USAGE_NOT_NULL: {"CF314"},
    Fault.MAX_TOKENS_IGNORED: {"CF401", "CF403", "CF404", "CF901"},
    Fault.MAX_COMPLETION_TOKENS_IGNORED: {"CF402"},
    Fault.ONE_TOKEN_TOO_MANY: {"CF403"},
    Fault.FINISH_STOP_FOR_LENGTH: {"CF404"},
    Fault.FINISH_LENGTH_AT_THE_END: {"CF405"},
    Fault.STOP_LEAKED: {"CF411"},
    Fault.FINISH_LENGTH_FOR_STOP: {"CF412", "CF417"},
    Fault.ONLY_FIRST_STOP: {"CF413"},
    Fault.ONLY_LAST_STOP: {"CF413"},
    Fault.LATER_STOP_WINS: {"CF413"},
    Fault.STOP_IN_ONE_TOKEN: {"CF414"},
    Fault.STOP_LEAKED_IN_STREAM: {"CF415"},
    Fault.NEVER_STOP_STOPS: {"CF416"},
    Fault.FIRST_TOKEN_UNSTOPPED: {"CF417"},
    Fault.ONE_CHOICE: {"CF501"},
    Fault.LOGPROB_MISSING: {"CF502"},
    Fault.TOP_LOGPROB_MISSING: {"CF503"},
    Fault.STREAMED_LOGPROB_MISSING: {"CF504"},
    Fault.STREAMED_TOKEN_WITHHELD: {"CF504"},
    Fault.COMPLETION_LOGPROB_MISSING: {"CF505"},
    # What is no JSON is no answer.
    Fault.LOGPROBS_NOT_A_NUMBER: {"CF505", "CF901", "CF902", "CF903"},
    Fault.SEED_IGNORED: {"CF506"},
    Fault.TOTAL_OFF_BY_ONE: {"CF601"},
    # Tokens that are counted too often are missed by whoever counts tokens as well.
    Fault.COMPLETION_OFF_BY_ONE: {"CF403", "CF502", "CF505", "CF602", "CF606"},
    Fault.STREAMED_USAGE_OFF_BY_ONE: {"CF603"},
    Fault.TOKEN_IDS_OFF_BY_ONE: {"CF604"},
    Fault.PROMPT_OFF_BY_ONE: {"CF607", "CF608"},
    Fault.PROMPT_TOKENS_CAPPED: {"CF605"},
    Fault.ONE_CHOICE_COUNTED: {"CF606"},
    Fault.TOKENIZE_DIFFERS: {"CF607"},
    Fault.UNKNOWN_MODEL_ACCEPTED: {"CF701"},
    Fault.UNKNOWN_MODEL_FORM: {"CF702"},
    Fault.MALFORMED_ACCEPTED: {"CF703"},
    Fault.MALFORMED_FORM: {"CF704"},
    Fault.NO_MESSAGES_ACCEPTED: {"CF705"},
    Fault.WRONG_TYPE_CRASHES: {"CF706"},
    Fault.TEMPERATURE_ACCEPTED: {"CF707", "CF708"},
    Fault.ERROR_AS_EVENT: {"CF708"},
    Fault.NEGATIVE_MAX_TOKENS_ACCEPTED: {"CF709"},
    Fault.NO_CHOICE_ACCEPTED: {"CF710"},
    Fault.PROMPT_TRUNCATED: {"CF711"},
    Fault.NO_MODEL_ACCEPTED: {"CF712"},
    Fault.UNKNOWN_PATH_ACCEPTED: {"CF713"},
    Fault.GET_ACCEPTED: {"CF714"},
    Fault.KEY_IGNORED: {"CF715"},
    Fault.NUMBER_AS_CODE: {"CF716"},
    Fault.OBJECT_AS_PARAM: {"CF717"},
    Fault.TOOL_ARGUMENTS_BROKEN: {"CF801"},
    Fault.STREAMED_ARGUMENTS_BROKEN: {"CF802"},
    Fault.TOOL_CALLED_DESPITE_NONE: {"CF803"},
    Fault.FINISH_STOP_FOR_REQUIRED_TOOL: {"CF804"},
    Fault.JSON_IN_A_FENCE: {"CF805"},
    Fault.SCHEMA_IGNORED: {"CF806"},
    Fault.ZEROED_BLOCKS: {"CF901"},
    Fault.LOST_CACHE: {"CF901", "CF902"},
    Fault.NOTHING_RECEIVED: {"CF903"},
}


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("canary") / "answers.json"
    with running(Stub()) as url:
        store_answers(Settings(url, MODEL), path)
    return path


@pytest.fixture(autouse=True)
def _tokenizers(monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for the tokenizers library, which counts as the stub does."""

    class Tokenizer:
        @staticmethod
        def from_file(path: str) -> Tokenizer:
            return Tokenizer()

        def encode(self, text: str) -> SimpleNamespace:
            return SimpleNamespace(ids=range(tokens_of(text)))

    monkeypatch.setitem(sys.modules, "tokenizers", SimpleNamespace(Tokenizer=Tokenizer))


@pytest.fixture(autouse=True)
def _no_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(metrics, "WAIT_SECONDS", 0.1)


def report_of(stub: Stub, answers: Path) -> Report:
    stub.api_key = KEY
    bytes_of_request = 0 if stub.has(Fault.NOTHING_RECEIVED) else 4096
    with running(stub) as url, pages(stub, RAY, bytes_of_request) as page:
        settings = Settings(
            url,
            MODEL,
            KEY,
            timeout_seconds=10,
            deadline_seconds=120,
            answers=answers,
            metrics_url=page,
            tokenizer=Path("tokenizer.json"),
        )
        return run(settings)


def ended(report: Report, status: Status) -> dict[str, str]:
    return {result.check: result.actual for result in report.results if result.status is status}


def test_every_check_passes_over_a_correct_server(answers: Path) -> None:
    report = report_of(Stub(), answers)
    assert {result.check: result.actual for result in report.results if result.status is not Status.PASSED} == {}
    assert len(report.results) == len(CHECKS)


def test_every_check_passes_where_each_byte_comes_alone(answers: Path) -> None:
    report = report_of(Stub(bytes_at_once=7), answers)
    assert {result.check: result.actual for result in report.results if result.status is not Status.PASSED} == {}


@pytest.mark.parametrize("quirk", Quirk)
def test_every_check_passes_over_a_right_server_of_a_rare_kind(quirk: Quirk, answers: Path) -> None:
    report = report_of(Stub(quirks=frozenset({quirk})), answers)
    said = {result.check: result.actual for result in report.results if result.status is not Status.PASSED}
    unsupported = {"CF401"} if quirk is Quirk.MAX_COMPLETION_TOKENS_ONLY else set()
    assert set(said) == set(ended(report, Status.UNSUPPORTED)) == unsupported, said


@pytest.mark.parametrize("fault", Fault)
def test_a_planted_fault_is_caught_by_the_check_meant_for_it(fault: Fault, answers: Path) -> None:
    report = report_of(Stub(frozenset({fault})), answers)
    assert set(ended(report, Status.FAILED)) == CAUGHT_BY[fault], ended(report, Status.FAILED)


def test_every_check_has_a_fault_that_it_catches() -> None:
    assert set(CAUGHT_BY) == set(Fault)
    assert set.union(*CAUGHT_BY.values()) == {check.id for check in CHECKS}
