"""What a gateway does for clients with a key, with another one and with none, and while keys are exchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from constructs_pd.planning.gateway_plan import GatewayPlan
from constructs_pd.rehearsal.checks import Check
from constructs_pd.rehearsal.exchange import NoAnswerError, as_json, exchange
from constructs_pd.rehearsal.gateway import LocalGateway, bearer, new_key, start_gateway, status, within
from constructs_pd.rehearsal.questions import Question, answer_of
from constructs_pd.rehearsal.supervised import Supervised

NOBODY: Final = "the gateway lets nobody through without a key that is in force"
SAME: Final = "who has a key is answered as by Serve itself, whole and as a stream"
EXCHANGED: Final = "keys are exchanged while the gateway runs"
#: The file is looked at so often; then a request is answered.
_LATE_SECONDS: Final = 10.0
_TIMEOUT_SECONDS: Final = 180.0
_DONE: Final = "[DONE]"


@dataclass(frozen=True)
class Said:
    """An answer, whole or put together from a stream.

    Attributes:
        text: The text.
        finish_reason: Why it ends.
        is_whole: Whether its end was marked.
    """

    text: str
    finish_reason: str
    is_whole: bool = True


@dataclass(frozen=True)
class Through:
    """A gateway that was asked.

    Attributes:
        gateway: It; it goes on running.
        key: The key that is in force now.
        checks: What was found.
    """

    gateway: LocalGateway
    key: str
    checks: Sequence[Check]


def through_gateway(gateway: GatewayPlan, serve_port: int, question: Question, supervised: Supervised) -> Through:
    """Start the gateway before Serve, ask a chat through it, and exchange its key.

    Raises:
        RehearsalError: It does not start.
    """
    key, fresh = new_key(), new_key()
    running = start_gateway(gateway, serve_port, key, supervised)
    checks = [nobody(status(running.port, None), status(running.port, new_key()))]
    try:
        direct = _whole(serve_port, None, question)
        checks.append(same(direct, _whole(running.port, key, question), _stream(running.port, key, question)))
    except NoAnswerError as error:
        checks.append(Check(SAME, False, str(error)))
    late = running.reload_seconds + _LATE_SECONDS
    running.let_in(key, fresh)
    both = within(late, lambda: status(running.port, fresh) == HTTPStatus.OK)
    both = both and status(running.port, key) == HTTPStatus.OK
    running.let_in(fresh)
    removed = within(late, lambda: status(running.port, key) == HTTPStatus.UNAUTHORIZED)
    removed = removed and status(running.port, fresh) == HTTPStatus.OK
    checks.append(exchanged(both, removed))
    return Through(running, fresh, checks)


def nobody(without: int, unknown: int) -> Check:
    """Nobody is let through without a key that is in force."""
    found = f"status {without} without a key, {unknown} with an unknown one"
    return Check(NOBODY, without == unknown == HTTPStatus.UNAUTHORIZED, found)


def same(direct: Said, whole: Said, stream: Said) -> Check:
    """The gateway changes no answer."""
    if direct == whole == stream:
        return Check(SAME, True, f"{len(direct.text)} characters, three times the same")
    return Check(SAME, False, f"Serve said {direct}, through the gateway {whole}, as a stream {stream}")


def exchanged(both: bool, removed: bool) -> Check:
    """A new key is taken beside the old one, and the old one refused once it is gone."""
    found = (
        f"the new key was {'' if both else 'not '}taken beside the old one, "
        f"which was {'' if removed else 'not '}refused without its line"
    )
    return Check(EXCHANGED, both and removed, found)


def _whole(port: int, key: str | None, question: Question) -> Said:
    answer = exchange(port, "POST", question.path, question.body, headers=bearer(key), timeout_seconds=_TIMEOUT_SECONDS)
    said = answer_of(as_json(*answer))
    return Said(said.text, said.finish_reason)


def _stream(port: int, key: str, question: Question) -> Said:
    body = {**question.body, "stream": True}
    code, text = exchange(port, "POST", question.path, body, headers=bearer(key), timeout_seconds=_TIMEOUT_SECONDS)
    if code != HTTPStatus.OK:
        raise NoAnswerError(f"status {code}: {text[:2000]}")
    data = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    choices = list(_choices(data))
    content = "".join(choice["delta"].get("content") or "" for choice in choices)
    reasons = [choice["finish_reason"] for choice in choices if choice.get("finish_reason")]
    return Said(content, reasons[-1] if reasons else "", data[-1:] == [_DONE])


def _choices(data: Iterable[str]) -> Iterable[dict[str, Any]]:
    for event in data:
        if event != _DONE:
            yield from json.loads(event).get("choices", ())
