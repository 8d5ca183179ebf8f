"""Steady requests to an endpoint, half of them streamed, and how each of them ended for its client."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPResponse
from threading import Event, Thread
from typing import Any, Final

from constructs_pd.rehearsal.nodes import NODE_ADDRESS
from constructs_pd.rehearsal.questions import Answer, Question, answer_of, completion

ANSWERED: Final = "answered"
STREAM_CUT: Final = "stream ended early"
INTERVAL_SECONDS: Final = 0.75
#: Of its silence; what a client waits for that gives up before a load balancer's minute does.
PATIENCE_SECONDS: Final = 60.0
MOST_AT_ONCE: Final = 96
ANSWER_TOKENS: Final = 48
PROMPT_TOKENS: Final = (40, 129, 300, 513)
LEAST_CONTEXT_TOKENS: Final = PROMPT_TOKENS[0] + ANSWER_TOKENS


@dataclass(frozen=True)
class Request:
    """A request and how it ended.

    Attributes:
        question: What was asked.
        streamed: Whether the answer was to come as a stream.
        begun: When it was sent, in seconds of the monotonic clock.
        ended: When it was over.
        ending: `answered`, or in a few words what the client saw instead.
        detail: The endpoint's or the client's message, if it was not answered.
        answer: The answer, or as much of it as came.
    """

    question: Question
    streamed: bool
    begun: float
    ended: float
    ending: str
    detail: str
    answer: Answer

    @property
    def is_answered(self) -> bool:
        """Whether the whole answer came."""
        return self.ending == ANSWERED


class Load:
    """Requests at even distances, however long the earlier ones take. A context manager: leaving it waits for all."""

    def __init__(self, port: int, model: str, first_number: int, context_tokens: int) -> None:
        self._port, self._model, self._number = port, model, first_number
        self._lengths = [length for length in PROMPT_TOKENS if length + ANSWER_TOKENS <= context_tokens]
        self._pool = ThreadPoolExecutor(MOST_AT_ONCE)
        self._sent: list[tuple[float, Future[Request]]] = []
        self._over = Event()
        self._clock = Thread(target=self._send, daemon=True)

    def ended(self) -> list[Request]:
        """Return the requests that are over, in the order in which they were sent."""
        return [future.result() for _, future in tuple(self._sent) if future.done()]

    def waits_since(self) -> float | None:
        """Return when the oldest request was sent that is not over, in seconds of the monotonic clock; none: no one."""
        return next((begun for begun, future in tuple(self._sent) if not future.done()), None)

    def __enter__(self) -> Load:
        self._clock.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._over.set()
        self._clock.join()
        # Where something went wrong, or Ctrl-C came, nobody waits a minute for answers: their connections end with Ray.
        self._pool.shutdown(wait=error[0] is None, cancel_futures=error[0] is not None)

    def _send(self) -> None:
        while not self._over.wait(INTERVAL_SECONDS):
            if sum(not future.done() for _, future in self._sent) < MOST_AT_ONCE:
                length = self._lengths[self._number % len(self._lengths)]
                question = completion(self._model, f"request {self._number}", length, self._number, ANSWER_TOKENS)
                future = self._pool.submit(request, self._port, question, streamed=self._number % 2 == 0)
                self._sent.append((time.monotonic(), future))
                self._number += 1


def request(port: int, question: Question, *, streamed: bool) -> Request:
    """Send a request and wait for its end."""
    begun = time.monotonic()
    ending, detail, answer = _asked(port, question, streamed=streamed)
    return Request(question, streamed, begun, time.monotonic(), ending, detail, answer)


def _asked(port: int, question: Question, *, streamed: bool) -> tuple[str, str, Answer]:
    connection = HTTPConnection(NODE_ADDRESS, port, timeout=PATIENCE_SECONDS)
    body = {**question.body, "stream": True, "stream_options": {"include_usage": True}} if streamed else question.body
    try:
        connection.request("POST", question.path, json.dumps(body), {"Content-Type": "application/json"})
        response = connection.getresponse()
        if response.status != 200:
            return f"status {response.status}", response.read().decode("utf-8", errors="replace"), Answer()
        if streamed:
            return _streamed(response)
        return ANSWERED, "", answer_of(json.loads(response.read()))
    except ConnectionRefusedError as error:
        return "connection refused", str(error), Answer()
    except TimeoutError:
        return f"no answer within {PATIENCE_SECONDS:.0f} s", "", Answer()
    except (OSError, HTTPException, ValueError, LookupError) as error:
        return "connection ended without an answer", str(error) or type(error).__name__, Answer()
    finally:
        connection.close()


def _streamed(response: HTTPResponse) -> tuple[str, str, Answer]:
    """Read a stream to its end, and keep what came of it."""
    parts: list[str] = []
    finish_reason, usage = "", {"prompt_tokens": 0, "completion_tokens": 0}
    ending, detail = STREAM_CUT, ""
    try:
        for event in _events(response):
            if event == "[DONE]":
                ending = ANSWERED if finish_reason else STREAM_CUT
                break
            chunk: dict[str, Any] = json.loads(event)
            if "error" in chunk:
                ending, detail = "error within the stream", event
                break
            for choice in chunk["choices"]:
                parts.append(choice["text"])
                finish_reason = choice["finish_reason"] or finish_reason
            usage = chunk.get("usage") or usage
    except TimeoutError:
        ending = f"stream silent for {PATIENCE_SECONDS:.0f} s"
    except (OSError, HTTPException, ValueError, LookupError) as error:
        detail = str(error) or type(error).__name__
    return ending, detail, Answer("".join(parts), finish_reason, usage["prompt_tokens"], usage["completion_tokens"])


def _events(response: HTTPResponse) -> Iterator[str]:
    while line := response.readline():
        with suppress(UnicodeDecodeError):
            text = line.decode("utf-8").strip()
            if text.startswith("data:"):
                yield text.removeprefix("data:").strip()
