"""CF40x: how many tokens are generated, and what finish_reason says of it."""

from __future__ import annotations

from typing import Final

from constructs_pd.conformance.check import check
from constructs_pd.conformance.outcome import NotSupportedError, require
from constructs_pd.conformance.session import LENGTH_TOKENS, Session, choices_of, streamed_choices, usage_of
from constructs_pd.conformance.surface import CHAT, Surface

FEW_TOKENS: Final = 8
MANY_TOKENS: Final = 256
BRIEFLY: Final = "Answer with the one word yes."


@check("CF401", "max_tokens limits the answer", "CreateCompletionRequest.max_tokens")
def max_tokens(session: Session) -> str:
    """Ask for few tokens and compare with the answer that had more of them."""
    return "; ".join(_shorter(session, surface, "max_tokens", FEW_TOKENS) for surface in session.surfaces)


@check("CF402", "max_completion_tokens limits a chat answer", "CreateChatCompletionRequest.max_completion_tokens")
def max_completion_tokens(session: Session) -> str:
    """Do the same with the newer field alone."""
    return _shorter(session, CHAT, "max_completion_tokens", FEW_TOKENS)


@check("CF403", "max_tokens: 1 gives one token", "CreateCompletionRequest.max_tokens")
def one_token(session: Session) -> str:
    """Ask for one token: the same number as a prefill engine is asked for."""
    for surface in session.surfaces:
        data = session.ask(surface, max_tokens=1).require_data()
        found = usage_of(data)["completion_tokens"]
        require(found == 1, "completion_tokens: 1", f"{surface.name}: completion_tokens: {found}")
    return "1"


@check(
    "CF404", "finish_reason is length where max_tokens ended an answer, in a stream too", "CreateChatCompletionResponse"
)
def length(session: Session) -> str:
    """Look at an answer that was cut."""
    for surface in session.surfaces:
        _require_long(session, surface)
        whole = choices_of(session.ask(surface, max_tokens=FEW_TOKENS).require_data())[0].get("finish_reason")
        stream = session.ask(surface, max_tokens=FEW_TOKENS, stream=True)
        streamed = [choice["finish_reason"] for choice in streamed_choices(stream) if choice.get("finish_reason")]
        require(whole == "length", "finish_reason: length", f"{surface.name}: {whole!r}")
        require(streamed == ["length"], "finish_reason: length in a stream", f"{surface.name}: {streamed}")
    return "length"


@check(
    "CF405",
    "finish_reason is stop where the model came to its own end, in a stream too",
    "CreateChatCompletionResponse",
)
def end(session: Session) -> str:
    """Ask for a word, with room for many."""
    data = session.ask(CHAT, BRIEFLY, max_tokens=MANY_TOKENS).require_data()
    used = usage_of(data)["completion_tokens"]
    if used >= MANY_TOKENS:
        raise NotSupportedError(f"the model came to no end within {MANY_TOKENS} tokens")
    whole = choices_of(data)[0].get("finish_reason")
    require(whole == "stop", "finish_reason: stop", f"{whole!r} after {used} tokens")
    stream = session.ask(CHAT, BRIEFLY, max_tokens=MANY_TOKENS, stream=True)
    streamed = [choice["finish_reason"] for choice in streamed_choices(stream) if choice.get("finish_reason")]
    require(streamed == ["stop"], "finish_reason: stop in a stream", streamed)
    return f"stop after {used} tokens"


def _shorter(session: Session, surface: Surface, field: str, tokens: int) -> str:
    if field == "max_tokens" and session.limit_name(surface) != field:
        raise NotSupportedError(f"{surface.name}: max_tokens is refused in favour of {session.limit_name(surface)}")
    _require_long(session, surface)
    whole = surface.text(choices_of(session.answer(surface))[0])
    asked = {name: value for name, value in session.body(surface).items() if name != session.limit_name(surface)}
    data = session.endpoint.post(surface.path, {**asked, field: tokens}).require_data()
    text = surface.text(choices_of(data)[0])
    found = f"{surface.name}: {len(text)} characters with {tokens} tokens, {len(whole)} with {LENGTH_TOKENS}"
    require(len(text) < len(whole), f"a shorter answer with {field}: {tokens}", found)
    return found


def _require_long(session: Session, surface: Surface) -> None:
    used = usage_of(session.answer(surface))["completion_tokens"]
    if used <= FEW_TOKENS:
        raise NotSupportedError(f"{surface.name}: the model's answer has {used} tokens only, too few to cut")


CHECKS = (max_tokens, max_completion_tokens, one_token, length, end)
