"""Runs the checks over an endpoint."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import openai

from constructs_pd.conformance.address import is_same_address, require_address
from constructs_pd.conformance.canary import Reference, read_answers, write_answers
from constructs_pd.conformance.check import Check
from constructs_pd.conformance.checks import CHECKS
from constructs_pd.conformance.deviations import known_deviations
from constructs_pd.conformance.endpoint import CLIENT, HIDDEN, Answer, Endpoint
from constructs_pd.conformance.outcome import CheckFailedError, NotSupportedError, RefusedError, Result, Status
from constructs_pd.conformance.problems import (
    BUSY,
    KEY,
    MODEL,
    NOT_OPENAI,
    OPTION,
    EndpointError,
    as_endpoint_error,
    short,
)
from constructs_pd.conformance.session import Session
from constructs_pd.conformance.settings import Settings
from constructs_pd.conformance.tokenizer import token_counter
from constructs_pd.redaction import redacted

# A prompt of any check but those of the canary, with its answer, is shorter, whatever the tokenizer.
ROOM_TOKENS: Final = 512


@dataclass(frozen=True, slots=True)
class Report:
    """What a run found.

    Attributes:
        base_url: Where.
        model: Of which model.
        results: One for each check that was asked for, in order.
        seconds: How long all of it took.
    """

    base_url: str
    model: str
    results: tuple[Result, ...]
    seconds: float

    def count(self, status: Status) -> int:
        """Return how many checks ended so."""
        return sum(result.status is status for result in self.results)

    @property
    def is_conforming(self) -> bool:
        """Whether no check failed."""
        return self.count(Status.FAILED) == 0


def run(settings: Settings, checks: Sequence[Check] = CHECKS, seen: Callable[[Result], None] | None = None) -> Report:
    """Run checks over an endpoint, one after the other.

    Args:
        settings: Which endpoint, and the limits.
        checks: Which checks.
        seen: Called with each result as it comes.

    Raises:
        EndpointError: The endpoint, or the reference, cannot be checked at all.
    """
    begin = time.monotonic()
    with opened(settings) as session:
        results = []
        for check in checks:
            results.append(_result(session, check))
            if seen is not None:
                seen(results[-1])
    return Report(settings.base_url, settings.model, tuple(results), time.monotonic() - begin)


def store_answers(settings: Settings, path: Path) -> None:
    """Store the canary's answers of an endpoint that is known to be right.

    Raises:
        EndpointError: The endpoint cannot be asked, or the file not be written.
    """
    with opened(settings) as session:
        write_answers(session, path)


@contextmanager
def opened(settings: Settings, key_remedy: str = KEY.remedy) -> Iterator[Session]:
    """Give a session with an endpoint that answers and serves the model.

    Args:
        settings: Which endpoint, and the limits.
        key_remedy: What to do where it wants another key.

    Raises:
        EndpointError: The endpoint, or the reference, cannot be checked at all.
    """
    endpoint = Endpoint(_checked(settings))
    try:
        _require_model(settings, endpoint, key_remedy)
        with _reference(settings) as reference:
            yield Session(settings, endpoint, reference)
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        seconds = min(settings.timeout_seconds, settings.deadline_seconds)
        raise as_endpoint_error(error, settings.base_url, seconds) from None
    finally:
        endpoint.close()


@contextmanager
def _reference(settings: Settings) -> Iterator[Reference | None]:
    if settings.answers is not None:
        yield Reference(
            str(settings.answers), stored=read_answers(settings.answers, settings.reference_model or settings.model)
        )
    elif settings.reference_url is not None:
        model = settings.reference_model or settings.model
        # The key belongs to the endpoint under test: nobody else is shown it.
        there = replace(settings, base_url=settings.reference_url, model=model, api_key=None, reference_url=None)
        remedy = "it is asked without a key: store its answers with --store-answers, then compare with --answers"
        with opened(there, remedy) as session:
            yield Reference(settings.reference_url, session=session)
    else:
        yield None


def _result(session: Session, check: Check) -> Result:
    begin = time.monotonic()
    status, expected, actual, note = Status.FAILED, check.title, "", None
    if session.endpoint.remaining_seconds == 0:
        actual = f"not run: the {session.settings.deadline_seconds:g} s of the whole run are used up"
        return Result(check.id, check.title, status, expected, actual, 0.0)
    try:
        actual = check.run(session)
        status = Status.PASSED
    except NotSupportedError as unsupported:
        status, actual = Status.UNSUPPORTED, str(unsupported)
    except (RefusedError, openai.BadRequestError) as refusal:
        status, expected, actual, note = _refused(session, check, refusal)
    except CheckFailedError as failure:
        expected, actual = failure.expected, failure.actual
        status, note = _known(session.settings, check, failure)
    except (httpx.TimeoutException, openai.APITimeoutError, CLIENT.TimeoutException):
        actual = f"no complete answer within {time.monotonic() - begin:.1f} s"
    except (httpx.HTTPError, openai.OpenAIError, CLIENT.HTTPError) as error:
        actual = f"{type(error).__name__}: {error}"
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        # A check reads answers of any shape: one that it did not foresee is a failure of the endpoint as well.
        actual = f"an answer of another shape: {type(error).__name__}: {error}"
    wanted, found = (short(_hidden(session.settings, text)) for text in (expected, actual))
    return Result(check.id, check.title, status, wanted, found, time.monotonic() - begin, note)


def _refused(
    session: Session, check: Check, refusal: RefusedError | openai.BadRequestError
) -> tuple[Status, str, str, str | None]:
    """Return what a refusal means: where the context is short, nothing can be told of it."""
    failure = refusal if isinstance(refusal, RefusedError) else RefusedError("status 200", str(refusal))
    context = session.context_tokens
    if context is not None and context < ROOM_TOKENS:
        reason = f"the context of {context} tokens may be too short: {failure.actual}"
        return Status.UNSUPPORTED, failure.expected, reason, None
    status, note = _known(session.settings, check, failure)
    return status, failure.expected, failure.actual, note


def _known(settings: Settings, check: Check, failure: CheckFailedError) -> tuple[Status, str | None]:
    rows = [row for row in known_deviations() if row.explains(check.id, failure)]
    for row in rows:
        if row.is_of(settings):
            return Status.KNOWN_DEVIATION, row.note
    # Unknown is not excused: whoever knows what serves the endpoint can say so.
    notes = [f"known only of {row.note}; --{row.product} VERSION says what serves it" for row in rows]
    return Status.FAILED, notes[0] if notes else None


def _hidden(settings: Settings, text: str) -> str:
    """Hide the key, which an endpoint may repeat in an error."""
    return redacted(text.replace(settings.api_key, HIDDEN) if settings.api_key else text)


def _checked(settings: Settings) -> Settings:
    require_address(settings.base_url, "base URL")
    if settings.reference_url is not None:
        require_address(settings.reference_url, "--reference-url")
        _require_another(settings, settings.reference_url)
    if settings.metrics_url is not None:
        require_address(settings.metrics_url, "--metrics-url", "write it as http://HOST:8080/metrics")
    if settings.tokenizer is not None:
        token_counter(settings.tokenizer)
    return settings


def _require_another(settings: Settings, reference_url: str) -> None:
    """Refuse a reference that is the endpoint itself: another model there may be an engine without a hand-over."""
    is_same_model = settings.reference_model in (None, settings.model)
    if is_same_model and is_same_address(settings.base_url, reference_url):
        message = f"{reference_url} is the endpoint under test, which would be compared with itself"
        raise EndpointError(OPTION, "--reference-url", message, "name an engine that serves without a hand-over")


def _require_model(settings: Settings, endpoint: Endpoint, key_remedy: str) -> None:
    answer = endpoint.get("/models")
    if answer.status != HTTPStatus.OK:
        raise _refusal(settings, answer, key_remedy)
    entries = answer.data.get("data") if isinstance(answer.data, dict) else None
    if not isinstance(entries, list):
        raise EndpointError(NOT_OPENAI, settings.base_url, f"GET /models answers {_shown(answer)}")
    names = [str(entry["id"]) for entry in entries if isinstance(entry, dict) and "id" in entry]
    if settings.model not in names:
        near = get_close_matches(settings.model, names, 1)
        remedy = f"did you mean {near[0]!r}?" if near else MODEL.remedy
        message = f"it serves {', '.join(map(repr, names)) or 'no model'}, not {settings.model!r}"
        raise EndpointError(MODEL, settings.base_url, message, remedy)


def _refusal(settings: Settings, answer: Answer, key_remedy: str) -> EndpointError:
    message = f"GET /models answers {_shown(answer)}"
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        return EndpointError(KEY, settings.base_url, message, key_remedy)
    if answer.status == HTTPStatus.TOO_MANY_REQUESTS:
        return EndpointError(BUSY, settings.base_url, message, "wait until it takes requests again, then try again")
    if answer.status in (HTTPStatus.BAD_GATEWAY, HTTPStatus.SERVICE_UNAVAILABLE, HTTPStatus.GATEWAY_TIMEOUT):
        return EndpointError(BUSY, settings.base_url, message)
    remedy = "see the endpoint's own log" if answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR else None
    return EndpointError(NOT_OPENAI, settings.base_url, message, remedy)


def _shown(answer: Answer) -> str:
    return f"{answer.shown[:120]!r} ({answer.content_type or 'no content type'})"
