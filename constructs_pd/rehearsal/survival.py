"""What a loss does to clients, from the requests around it: pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.load import ANSWERED, Request
from constructs_pd.rehearsal.questions import Answer


@dataclass(frozen=True)
class Survival:
    """How a deployment lived through a loss.

    Attributes:
        loss: What was lost.
        requests: Requests from the loss on, until it served again.
        endings: How many of them ended how.
        messages: What the client was told, by ending; the first of each.
        replaced_seconds: From the loss until every replica ran again, in seconds; none: not in time.
        failing_seconds: From the loss until the last request that failed was sent, in seconds; 0: none later.
        longest_wait_seconds: Of a request that was answered, in seconds.
        answers_again: Whether requests were answered afterwards, for a while without a failure.
        left_processes: Of what was lost, how many still ran when everything had been replaced.
        wrong: Answers, or parts of one, that are not what a plain engine says.
    """

    loss: str
    requests: int
    endings: dict[str, int]
    messages: dict[str, str]
    replaced_seconds: float | None
    failing_seconds: float
    longest_wait_seconds: float
    answers_again: bool
    left_processes: int
    wrong: int


@dataclass(frozen=True)
class Lost:
    """A loss and the requests around it.

    Attributes:
        loss: What was lost.
        at: When, in seconds of the monotonic clock.
        replaced_at: When every replica ran again, likewise; none: not in time.
        answers_again: Whether requests were answered afterwards, for a while without a failure.
        left_processes: Of what was lost, how many still ran then.
        requests: All requests of the time around it.
    """

    loss: str
    at: float
    replaced_at: float | None
    answers_again: bool
    left_processes: int
    requests: Sequence[Request]


def survival(lost: Lost, right: Sequence[Answer]) -> Survival:
    """Summarize a loss, given the answer of a plain engine to each of its requests."""
    met = [request for request in lost.requests if request.ended >= lost.at]
    failed = [request for request in met if not request.is_answered]
    messages: dict[str, str] = {}
    for request in failed:
        messages.setdefault(request.ending, request.detail[:500])
    return Survival(
        loss=lost.loss,
        requests=len(met),
        endings=dict(Counter(request.ending for request in met)),
        messages=messages,
        replaced_seconds=None if lost.replaced_at is None else round(lost.replaced_at - lost.at, 1),
        failing_seconds=round(max([0.0, *(request.begun - lost.at for request in failed)]), 1),
        longest_wait_seconds=round(max((each.ended - each.begun for each in met if each.is_answered), default=0.0), 1),
        answers_again=lost.answers_again,
        left_processes=lost.left_processes,
        wrong=sum(is_wrong(request, answer) for request, answer in zip(lost.requests, right, strict=True)),
    )


def is_wrong(request: Request, right: Answer) -> bool:
    """Whether a client was told something that a plain engine does not say: nothing, or a beginning, is not wrong."""
    if right.error is not None:
        return True
    return request.answer != right if request.is_answered else not right.text.startswith(request.answer.text)


def checks_of(survived: Survival) -> list[Check]:
    """Return what must hold of a loss: failed requests are no failure, wrong answers and an end for good are."""
    seconds = survived.replaced_seconds
    failed = survived.requests - survived.endings.get(ANSWERED, 0)
    replaced = "not every replica ran again" if seconds is None else f"every replica ran again after {seconds} s"
    if seconds is not None and not survived.answers_again:
        replaced += ", but requests were not answered for a while without a failure"
    return [
        Check(f"it serves again after the loss of {survived.loss}", survived.answers_again, replaced),
        Check(
            f"the loss of {survived.loss} leaves no process behind",
            survived.left_processes == 0,
            f"{survived.left_processes} processes",
        ),
        Check(
            f"no answer is wrong around the loss of {survived.loss}",
            survived.wrong == 0,
            f"{survived.wrong} wrong; {failed} of {survived.requests} requests failed",
        ),
    ]
