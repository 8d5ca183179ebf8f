"""What is made of the requests around a loss."""

from __future__ import annotations

from dataclasses import replace

import pytest

from constructs_pd.rehearsal.load import ANSWERED, STREAM_CUT, Request
from constructs_pd.rehearsal.questions import Answer, Question
from constructs_pd.rehearsal.survival import Lost, Survival, checks_of, is_wrong, survival

RIGHT = Answer("abcdef", "length", 10, 6)
GOOD = Request(Question("one", "/v1/completions", {}), True, 99.0, 101.5, ANSWERED, "", RIGHT)
EARLY = replace(GOOD, begun=90.0, ended=99.0)
CUT = replace(GOOD, begun=99.5, ended=100.5, ending=STREAM_CUT, detail="reset", answer=Answer("abc"))
REFUSED = replace(GOOD, begun=108.0, ended=108.0, ending="connection refused", detail="no", answer=Answer())


def lost(*requests: Request, replaced_at: float | None = 130.0, answers_again: bool = True) -> Lost:
    return Lost("decode-node", 100.0, replaced_at, answers_again, 2, requests)


def test_requests_that_a_loss_met_are_counted_by_how_they_ended() -> None:
    found = survival(lost(EARLY, GOOD, CUT, REFUSED, replace(REFUSED, begun=104.0, detail="later")), [RIGHT] * 5)
    assert found.requests == 4
    assert found.endings == {"answered": 1, "stream ended early": 1, "connection refused": 2}
    assert found.messages == {"stream ended early": "reset", "connection refused": "no"}
    assert (found.replaced_seconds, found.failing_seconds, found.longest_wait_seconds) == (30.0, 8.0, 2.5)
    assert (found.left_processes, found.wrong) == (2, 0)
    assert passed(found) == {"it serves again": True, "leaves no process": False, "no answer is wrong": True}


def passed(found: Survival) -> dict[str, bool]:
    names = ("it serves again", "leaves no process", "no answer is wrong")
    return {name: check.passed for name in names for check in checks_of(found) if name in check.name}


def test_nothing_failed() -> None:
    found = survival(lost(GOOD), [RIGHT])
    assert survival(lost(CUT), [RIGHT]).failing_seconds == 0.0
    assert (found.failing_seconds, found.messages) == (0.0, {})


@pytest.mark.parametrize(
    ("request_", "right", "wrong"),
    [
        (GOOD, RIGHT, False),
        (GOOD, replace(RIGHT, text="abcdeg"), True),
        (GOOD, replace(RIGHT, completion_tokens=7), True),
        (CUT, RIGHT, False),
        (CUT, replace(RIGHT, text="abdddd"), True),
        (REFUSED, RIGHT, False),
        (GOOD, Answer(error="status 500"), True),
    ],
)
def test_an_answer_or_a_part_of_one_that_no_plain_engine_gives_is_wrong(
    request_: Request, right: Answer, *, wrong: bool
) -> None:
    assert is_wrong(request_, right) is wrong


def test_a_wrong_answer_before_the_loss_counts_too() -> None:
    found = survival(lost(replace(EARLY, answer=Answer("zzzzzz", "length", 10, 6)), GOOD), [RIGHT, RIGHT])
    assert found.wrong == 1
    assert not passed(found)["no answer is wrong"]


def test_what_does_not_come_back_fails() -> None:
    serves, *_ = checks_of(survival(lost(GOOD, replaced_at=None, answers_again=False), [RIGHT]))
    assert not serves.passed
    assert serves.detail == "not every replica ran again"


def test_what_runs_and_answers_nobody_fails() -> None:
    found = survival(lost(CUT, answers_again=False), [RIGHT])
    serves, *_ = checks_of(found)
    assert not serves.passed
    assert "every replica ran again after 30.0 s, but requests were not answered" in serves.detail
