"""CF7xx: what is refused, with which status and in which form."""

from __future__ import annotations

from typing import Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.endpoint import Answer
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.session import LENGTH_TOKENS, PROMPT, Session
from constructs_pd.conformance.surface import CHAT

ERROR: Final = "ErrorResponse, Error"
REQUEST: Final = "CreateChatCompletionRequest"
GUIDE: Final = "OpenAI's guide to error codes"
UNKNOWN: Final = "no-such-model"
# A prompt of 12 MB; longer contexts are rare, and servers may refuse so large a body for its size.
LONGEST_TOKENS: Final = 2 * 2**20
MALFORMED: Final = b'{"model": "x", "messages": [{"role": "user",'


@check("CF701", "A request for an unknown model is a 404", GUIDE)
def unknown_model(session: Session) -> str:
    """Ask for a model that nobody has, both ways."""
    for surface in session.surfaces:
        answer = session.ask(surface, model=UNKNOWN, max_tokens=1)
        require(answer.status == 404, "status 404", f"{surface.name}: {answer.shown}")
    return "404"


@check("CF702", "The refusal of an unknown model has the form of an error", ERROR)
def unknown_model_form(session: Session) -> str:
    """Look at its body."""
    return _form(session.ask(CHAT, model=UNKNOWN, max_tokens=1))


@check("CF703", "A body that is no JSON is a 400", GUIDE)
def malformed(session: Session) -> str:
    """Send half a body."""
    return _bad_request(session.endpoint.post(CHAT.path, MALFORMED))


@check("CF704", "The refusal of a body that is no JSON has the form of an error", ERROR)
def malformed_form(session: Session) -> str:
    """Look at its body."""
    return _form(session.endpoint.post(CHAT.path, MALFORMED))


@check("CF705", "A chat request without messages is a 400 in the form of an error", f"{REQUEST}.required")
def no_messages(session: Session) -> str:
    """Leave them out."""
    return _refused(session.endpoint.post(CHAT.path, {"model": session.settings.model}))


@check("CF706", "A field of a wrong type is a 400 in the form of an error", f"{REQUEST}.temperature")
def wrong_type(session: Session) -> str:
    """Send a word for a number."""
    return _refused(session.ask(CHAT, temperature="hot", max_tokens=1))


@check("CF707", "A temperature below 0 is a 400 in the form of an error", f"{REQUEST}.temperature")
def out_of_range(session: Session) -> str:
    """Send -1."""
    return _refused(session.ask(CHAT, temperature=-1, max_tokens=1))


@check("CF708", "A stream that is refused is a 400 too, in the form of an error and not of an event", ERROR)
def refused_stream(session: Session) -> str:
    """Send the same for a stream."""
    return _refused(session.ask(CHAT, temperature=-1, max_tokens=1, stream=True))


@check("CF709", "A negative max_tokens is a 400 in the form of an error", "CreateCompletionRequest.max_tokens")
def negative_max_tokens(session: Session) -> str:
    """Send -1."""
    return _refused(session.ask(CHAT, max_tokens=-1))


@check("CF710", "n: 0 is a 400 in the form of an error", f"{REQUEST}.n")
def no_choice(session: Session) -> str:
    """Ask for no choice."""
    return _refused(session.ask(CHAT, n=0, max_tokens=1))


@check("CF711", "A prompt longer than the context is a 400 in the form of an error", GUIDE)
def oversized_prompt(session: Session) -> str:
    """Send more words than the context has tokens."""
    context = session.context_tokens
    if context is None:
        raise NotSupportedError("the model list does not tell the longest context: give --context-tokens")
    if context > LONGEST_TOKENS:
        raise NotSupportedError(f"more than a context of {context} tokens is not sent, only up to {LONGEST_TOKENS}")
    return _refused(session.ask(CHAT, " hello" * (context + 1), max_tokens=1))


@check("CF712", "A request without a model is a 400 in the form of an error", f"{REQUEST}.required")
def no_model(session: Session) -> str:
    """Leave it out."""
    return _refused(session.endpoint.post(CHAT.path, {**CHAT.prompt(PROMPT), "max_tokens": LENGTH_TOKENS}))


@check("CF713", "A path that does not exist is a 404", GUIDE)
def unknown_path(session: Session) -> str:
    """Ask for one."""
    answer = session.endpoint.post("/no/such/path", {})
    require(answer.status == 404, "status 404", answer.shown)
    return "404"


@check("CF714", "A chat request by GET is a 404 or 405, or lists stored answers", "GET /chat/completions")
def wrong_method(session: Session) -> str:
    """GET the path of a POST."""
    answer = session.endpoint.get(CHAT.path)
    if answer.status == 200 and isinstance(answer.data, dict) and answer.data.get("object") == "list":
        return "a list"
    require(answer.status in (404, 405), "status 404 or 405, or a list", answer.shown)
    return f"{answer.status}"


@check("CF715", "A wrong API key is a 401", GUIDE)
def wrong_key(session: Session) -> str:
    """Send another key, where the endpoint has one."""
    if session.settings.api_key is None:
        raise NotSupportedError("no --api-key-env was given")
    answer = session.endpoint.with_wrong_key(CHAT.path, session.body(CHAT, max_tokens=1))
    require(answer.status == 401, "status 401", answer.shown)
    return "401"


@check("CF716", "An error's code is text or null", "Error.code")
def error_code(session: Session) -> str:
    """Look at an error that the engine makes."""
    return _text_or_null(session.ask(CHAT, temperature=-1, max_tokens=1), "code")


@check("CF717", "An error's param is text or null", "Error.param")
def error_param(session: Session) -> str:
    """Look at an error that the parser makes."""
    return _text_or_null(session.endpoint.post(CHAT.path, {"model": session.settings.model}), "param")


def _refused(answer: Answer) -> str:
    _bad_request(answer)
    _form(answer)
    return answer.shown[:80]


def _bad_request(answer: Answer) -> str:
    require(answer.status == 400, "status 400", answer.shown)
    return "400"


def _text_or_null(answer: Answer, name: str) -> str:
    _form(answer)
    found = answer.data["error"].get(name)
    require(found is None or isinstance(found, str), f"{name} as text or null", f"{name}: {found!r}")
    return f"{found!r}"


def _form(answer: Answer) -> str:
    if answer.status < 400:
        raise NotSupportedError(f"it is not refused: {answer.shown}")
    error = answer.data.get("error") if isinstance(answer.data, dict) else None
    fields = isinstance(error, dict) and all(isinstance(error.get(name), str) for name in ("message", "type"))
    require(fields, "an error object with message and type", answer.shown)
    return answer.shown[:80]


CHECKS = (
    unknown_model,
    unknown_model_form,
    malformed,
    malformed_form,
    no_messages,
    wrong_type,
    out_of_range,
    refused_stream,
    negative_max_tokens,
    no_choice,
    oversized_prompt,
    no_model,
    unknown_path,
    wrong_method,
    wrong_key,
    error_code,
    error_param,
)
