"""What a gateway does for clients with a key, with another one and with none, and while keys are exchanged."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
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
#: Each key is of a name of its own, or two of them could meet one limit.
_WHOLE, _STREAM, _OLD, _FRESH, _HELD = "whole", "stream", "old", "fresh", "held"
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
        key: A key that is in force, with which nothing was asked.
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
    keys = {name: new_key() for name in (_WHOLE, _STREAM, _OLD, _FRESH, _HELD)}
    running = start_gateway(gateway, serve_port, _without(keys, _FRESH), supervised)
    checks = [nobody(status(running.port, None), status(running.port, new_key()))]
    try:
        direct = _whole(serve_port, None, question)
        whole, stream = _whole(running.port, keys[_WHOLE], question), _stream(running.port, keys[_STREAM], question)
        checks.append(same(direct, whole, stream))
    except NoAnswerError as error:
        checks.append(Check(SAME, False, str(error)))
    checks.append(exchanged(*_exchange_keys(running, keys)))
    return Through(running, keys[_HELD], checks)


def _exchange_keys(running: LocalGateway, keys: Mapping[str, str]) -> tuple[tuple[int, int], tuple[int, int]]:
    """Let a new key in and shut the old one out; return how each was answered, the old one first, after either."""

    def answered() -> tuple[int, int]:
        return status(running.port, keys[_OLD]), status(running.port, keys[_FRESH])

    late = running.reload_seconds + _LATE_SECONDS
    running.let_in(keys)
    within(late, lambda: in_force(status(running.port, keys[_FRESH])))
    beside = answered()
    running.let_in(_without(keys, _OLD))
    within(late, lambda: not in_force(status(running.port, keys[_OLD])))
    return beside, answered()


def _without(keys: Mapping[str, str], name: str) -> dict[str, str]:
    return {each: key for each, key in keys.items() if each != name}


def in_force(answered: int) -> bool:
    """Return whether a key is: who has one that is not is told so, and who has one may be told that it is too often."""
    return answered in (HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS)


def nobody(without: int, unknown: int) -> Check:
    """Nobody is let through without a key that is in force."""
    found = f"status {without} without a key, {unknown} with an unknown one"
    return Check(NOBODY, without == unknown == HTTPStatus.UNAUTHORIZED, found)


def same(direct: Said, whole: Said, stream: Said) -> Check:
    """The gateway changes no answer."""
    if direct == whole == stream:
        return Check(SAME, True, f"{len(direct.text)} characters, three times the same")
    return Check(SAME, False, f"Serve said {direct}, through the gateway {whole}, as a stream {stream}")


def exchanged(beside: tuple[int, int], after: tuple[int, int]) -> Check:
    """A new key is taken beside the old one, and the old one refused once its line is gone.

    Args:
        beside: How the old and the new key were answered while both had a line.
        after: The same once the old one had none.
    """
    found = (
        f"old and new key: status {beside[0]} and {beside[1]} side by side, {after[0]} and {after[1]} "
        "without the old one's line"
    )
    right = all(map(in_force, beside)) and after[0] == HTTPStatus.UNAUTHORIZED and in_force(after[1])
    return Check(EXCHANGED, right, found)


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
